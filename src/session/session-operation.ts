/**
 * Reports sessions to the server's observer, as operations.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
 */
import type { Revision } from '../protocol/revisions.ts'
import type { SessionRecord } from './session.ts'

/** A session, as an observer sees it. */
export interface SessionOperation {
  readonly type: 'session'
  readonly revision: Revision
  readonly principal: string | undefined
  readonly http: true
}

/** Receives the events of sessions. */
export interface SessionObserver {
  /** Observes sessions, which are identified by their ids. */
  readonly observe?:
    | {
        /** Called when a session was opened. */
        open(id: string, session: SessionOperation): void
        /** Called when a session has ended. */
        close(id: string, session: SessionOperation): void
      }
    | undefined
  /** Receives the errors of a store. */
  report(error: unknown): void
}

/** Describes a session to an observer. */
export function operationOf({ revision, principal }: SessionRecord): SessionOperation {
  return { type: 'session', revision, principal, http: true }
}
