/**
 * A session that is served in this process, as a pool knows it.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import type { CountedSession } from './quota.ts'
import type { Session } from './session.ts'
import type { Streams } from './streams.ts'

/** What a pool creates sessions from, and needs of them. */
export interface PooledSession {
  readonly id: string
  readonly session: Session
  readonly streams: Streams
}

/** A session in a pool, and when it was used. */
export interface PoolEntry<S extends PooledSession = PooledSession> extends CountedSession {
  readonly live: S
  /** By the monotonic clock, in milliseconds. */
  usedAt: number
  /** When its use was last noted in the store, by the same clock. */
  notedAt: number
  /** Removes what it listens to from the index of topics. */
  unlisten: () => void
}

/** Whether a session may end: nothing is answered in it, and no client listens. */
export function isQuiet({ live: { session, streams } }: PoolEntry): boolean {
  return session.inFlight.size === 0 && !streams.connected
}
