/**
 * What a session's streams sent and which of them are open, so that a client that lost its
 * connection gets what it missed, and calls go on after their host was replaced.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
import type { Recording } from '../patterns/replay.ts'
import type { JsonObject, JsonRpcRequest } from '../protocol/types.ts'

/** A sent message with its event id. */
export interface StoredEvent {
  readonly id: string
  /** A JSON-RPC message; empty for an event that only carries its id. */
  readonly message: string
}

/** What followed an event on its own stream. */
export interface MissedEvents {
  readonly stream: string
  readonly events: readonly StoredEvent[]
}

/** A request that is being answered on a stream. Plain JSON. */
export interface ResumableCall {
  /** The request, as received. */
  readonly request: JsonRpcRequest
  /** What its handler asked and did so far. */
  recording: Recording
  /** The questions that the client has not answered: the key of each by the id of its request. */
  asked: { [id: string]: string }
  /** Answers that arrived while no handler ran, by key. */
  answers: { [key: string]: JsonObject }
}

/** A stream that has not ended: of a pending call, or of messages that belong to no request. */
export interface OpenStream {
  /** The id of the stream, unique in its session. */
  readonly id: string
  /**
   * The call that is answered on the stream; absent on a stream of messages that belong to no
   * request.
   */
  readonly call?: ResumableCall | undefined
}

/** Where a stream's events go while a client is connected. */
export interface Sink {
  /** Whether the client is still connected. */
  readonly open: boolean
  /** Sends an event to the client. */
  send(event: {
    id?: string | undefined
    retry?: number | undefined
    data: string
  }): Promise<void> | undefined
  /** Ends the connection. */
  close(): void
}

/**
 * The sent events and the open streams of one session. Implementations are synchronous, so that
 * messages keep their order; they may write later. No method throws: a message that cannot be
 * stored is sent all the same.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
export interface EventStore {
  /**
   * How many events were stored so far, by earlier hosts too; too high is allowed, too low is not.
   */
  readonly eventCount: number
  /**
   * Stores a message of a stream.
   *
   * @returns the id of the event, unique in the session; none if it cannot be stored.
   */
  storeEvent(stream: string, message: string): string | undefined
  /** The events after one on its stream; `undefined` if that event is unknown or too old. */
  replayEventsAfter(eventId: string): MissedEvents | undefined
  /** Adds an open stream, or replaces what is stored of it. */
  put(stream: OpenStream): void
  /**
   * Removes a stream that ended. Until then a client that missed nothing can resume it after its
   * last event, however old that is.
   */
  delete(stream: string): void
  /** The open streams in the order of opening. */
  openStreams(): OpenStream[]
  /** The connection of an open stream, where connections outlive their host. */
  sink?(stream: string): Sink | undefined
}

/** The limits of the events of one session. */
export interface EventStoreLimits {
  /**
   * The maximum number of events.
   *
   * @default 1000
   */
  maxEvents?: number
  /**
   * The maximum number of characters in all messages.
   *
   * @default 4194304
   */
  maxSize?: number
}
