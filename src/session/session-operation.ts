/**
 * Reports the beginning and end of sessions to the server's observer. Each session is an operation.
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

/** Where the beginning and end of sessions, and errors, are reported. */
export interface SessionReporter {
  /** The server's observer, if it has one. */
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
