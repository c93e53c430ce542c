/**
 * What a message over HTTP belongs to, in the revisions with sessions.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import type { RevisionFacts } from '../../protocol/revisions.ts'
import type { SessionRecord } from '../../session/session.ts'
import type { KeptSession } from './kept-session.ts'

/** A session, or only a revision where the handler has no sessions. */
export interface Membership {
  /** The session, where it is kept. */
  readonly live?: KeptSession | undefined
  /** What was negotiated, as far as it is known. */
  readonly record?: SessionRecord | undefined
  readonly revision: RevisionFacts
}
