/**
 * What the sessions of one process share.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import type { HttpEndpoint } from '../../transport/streamable-http/incoming.ts'
import type { ChangeLog } from '../changes.ts'
import type { FoundSession, LiveSessions } from './live-sessions.ts'
import type { StreamTable } from './stream-table.ts'
import type { SessionTable } from './table.ts'
import type { LongRequest, StreamWriter } from './writer.ts'

/** A request that is being answered here. */
export interface RunningRequest extends LongRequest {
  readonly startedAt: number
  /** Whether other processes know it. */
  isKnown: boolean
}

/** A live session, as its process finds and ends it. */
export interface Settling extends FoundSession {
  /** Whether the process has to know what happens in it. */
  readonly busy: boolean
  close(): void
}

/** What a live session needs of its process. */
export interface ProcessParts {
  /** The id of this process. */
  readonly process: string
  readonly endpoint: HttpEndpoint
  readonly resumable: boolean
  readonly table: SessionTable
  readonly streams: StreamTable
  readonly writer: StreamWriter
  readonly changes: ChangeLog
  readonly live: Pick<LiveSessions<Settling>, 'update' | 'setStale'>
  readonly report: (error: unknown) => void
  /** Whether it can be known which processes are alive. */
  mayTakeOver(): boolean
  begin(request: RunningRequest, hasStream: () => boolean): void
  finish(request: RunningRequest): void
  /** Forgets a session that is not busy any more. */
  settle(live: Settling): void
  /** Ends a session whose row is gone. */
  ended(live: Settling): void
  /** Ends a session in all processes. */
  remove(id: string): Promise<void>
}
