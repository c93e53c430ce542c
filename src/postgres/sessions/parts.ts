/**
 * The parts that all sessions of one process share.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import type { HttpEndpoint } from '../../transport/streamable-http/incoming.ts'
import type { ChangeLog } from '../changes.ts'
import type { ListenerTable } from './listener-table.ts'
import type { IndexedSession, LiveSessions } from './live-sessions.ts'
import type { StreamTable } from './stream-table.ts'
import type { SessionTable } from './table.ts'
import type { LongRequest, StreamWriter } from './writer.ts'

/** A request that this process is handling. */
export interface RunningRequest extends LongRequest {
  /** When the request began, by `performance.now()`. */
  readonly startedAt: number
  /** Whether the request is stored, so that other processes know it. */
  isStored: boolean
}

/** A live session that its process may stop tracking. */
export interface TrackedSession extends IndexedSession {
  /** Whether the process must be notified of what happens in the session. */
  readonly busy: boolean
  close(): void
}

/** The parts of a process that a live session uses. */
export interface ProcessParts {
  /** The id of this process. */
  readonly processId: string
  readonly endpoint: HttpEndpoint
  /** Whether another process runs a call again if the process of the call has ended. */
  readonly resumable: boolean
  readonly sessionTable: SessionTable
  readonly listenerTable: ListenerTable
  readonly streamTable: StreamTable
  readonly writer: StreamWriter
  readonly changes: ChangeLog
  readonly liveSessions: Pick<LiveSessions<TrackedSession>, 'update' | 'markStale' | 'markFresh'>
  readonly report: (error: unknown) => void
  /** Whether streams may be taken over. They may only while it is certain which processes have ended. */
  mayTakeOver(): boolean
  /** Records that a request is being handled. A request without a stream is stored if it takes long. */
  begin(request: RunningRequest, hasStream: () => boolean): void
  /** Records that a request was answered. */
  finish(request: RunningRequest): void
  /** Removes a session from memory if it is no longer busy. */
  settle(live: TrackedSession): void
  /** Closes a session whose row was deleted, and removes it from memory. */
  endDeleted(live: TrackedSession): void
  /** Ends a session in all processes. */
  remove(id: string): Promise<void>
}
