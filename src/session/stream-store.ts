/**
 * Which streams of a session are open, kept so that they go on after their host was replaced.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
import type { Recording } from '../patterns/replay.ts'
import type { JsonObject, JsonRpcRequest } from '../protocol/jsonrpc.ts'

/** A request that is being answered on a stream. Plain JSON. */
export interface PendingCall {
  readonly request: JsonRpcRequest
  /** What its handler asked and did so far. */
  recording: Recording
  /** The questions that the client has not answered: the key of each by the id of its request. */
  asked: { [id: string]: string }
  /** Answers that came while no handler ran, by key. */
  answers: { [key: string]: JsonObject }
}

/** An open stream: of a call, or of what belongs to no request. */
export interface OpenStream {
  readonly id: string
  readonly call?: PendingCall | undefined
}

/** Where a stream's events go while a client is connected. */
export interface Sink {
  readonly open: boolean
  send(event: {
    id?: string | undefined
    retry?: number | undefined
    data: string
  }): Promise<void> | undefined
  close(): void
}

/** Keeps the open streams of one session. Synchronous, as a log is, and never throws. */
export interface StreamStore {
  /** Keeps a stream, or what changed of it. */
  keep(stream: OpenStream): void
  /** Forgets a stream that ended. */
  forget(id: string): void
  /** Every stream that is open, in the order of opening. */
  all(): OpenStream[]
  /** The connection of a stream, where connections outlive their host. */
  sink?(id: string): Sink | undefined
}
