/**
 * A session that is served in this process.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import type { CountedSession } from './quota.ts'
import type { PendingCalls } from './resumable-calls.ts'
import type { Session } from './session.ts'
import type { SessionStreams } from './streams.ts'

/** A session with its id, its streams, and when it was used. */
export interface LiveSession extends CountedSession {
  readonly id: string
  readonly session: Session
  readonly streams: SessionStreams
  /** The calls that can be run again, if they are stored. */
  readonly calls: PendingCalls | undefined
  /** By the monotonic clock, in milliseconds. */
  usedAt: number
  /** When its use was last noted in the store, by the same clock. */
  notedAt: number
}

/** Whether a session may end: nothing is answered in it, and no client listens. */
export function isIdle({ session, streams }: LiveSession): boolean {
  return session.inFlight.size === 0 && !streams.connected
}
