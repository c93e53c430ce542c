/**
 * The entry of a session in a pool.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import type { CountedSession } from './quota.ts'
import type { Session } from './session.ts'
import type { Streams } from './streams.ts'

/** The parts that a pool creates for a session: its id, its state, and its streams. */
export interface SessionParts {
  readonly id: string
  readonly session: Session
  readonly streams: Streams
}

/** A session in a pool, with the times of its use. */
export interface PoolEntry<Pooled extends SessionParts = SessionParts> extends CountedSession {
  /** The session, in the form that the pool's owner needs. */
  readonly pooled: Pooled
  /** When the session was last used, as returned by `performance.now()`. */
  usedAt: number
  /** When a use of the session was last recorded in the store, as returned by `performance.now()`. */
  recordedAt: number
  /** Removes the session from the index that finds the sessions subscribed to a change. */
  unindex: () => void
}

/** Whether a request is being handled in a session, or a client listens. A session that is not in use may be ended. */
export function isInUse({ pooled: { session, streams } }: PoolEntry): boolean {
  return session.inFlight.size > 0 || streams.connected
}
