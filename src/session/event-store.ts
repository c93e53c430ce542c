/**
 * Storage of the sent messages and the open streams of a session. A client that lost its connection can then receive
 * the messages that it missed, and calls can continue in another process.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
import type { Recording } from '../patterns/replay.ts'
import type { JsonObject, JsonRpcRequest } from '../protocol/types.ts'

/** A sent message with its event id. */
export interface StoredEvent {
  readonly id: string
  /** A JSON-RPC message; empty for an event that has only an id. */
  readonly message: string
}

/** The events that followed a given event on the same stream. */
export interface MissedEvents {
  /** The id of the stream. */
  readonly stream: string
  readonly events: readonly StoredEvent[]
}

/** The stored state of a request that is being handled. It is plain JSON. */
export interface ResumableCall {
  /** The request, as received. */
  readonly request: JsonRpcRequest
  /** The input requests and steps of the request's handler so far. */
  recording: Recording
  /**
   * The keys of the input requests that the client has not answered, by the id of the JSON-RPC request
   * that was sent to the client.
   */
  unanswered: { [id: string]: string }
  /** The client's answers that arrived while the handler was not running, by the keys of the input requests. */
  answers: { [key: string]: JsonObject }
}

/** A stream that has not ended. It carries the messages of a pending call, or messages that belong to no request. */
export interface OpenStream {
  /** The id of the stream, unique in its session. */
  readonly id: string
  /**
   * The call whose response is sent on the stream. Absent on a stream for messages that belong to no
   * request.
   */
  readonly call?: ResumableCall | undefined
}

/** The connection to a client over which a stream sends its events. */
export interface Sink {
  /** Whether the client is still connected. */
  readonly open: boolean
  /**
   * Sends an event to the client. Returns `undefined`, or a promise that resolves when a slow client has
   * caught up.
   */
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
 * messages keep their order. An implementation may write to its database later. No method throws,
 * because a message that cannot be stored is sent anyway.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
export interface EventStore {
  /**
   * How many events were ever stored, including those of earlier processes. The number may be too high,
   * but not too low.
   */
  readonly eventCount: number
  /**
   * Stores a message of a stream.
   *
   * @returns The id of the event, unique in the session; `undefined` if it cannot be stored.
   */
  storeEvent(streamId: string, message: string): string | undefined
  /**
   * Returns the events after the given event on its stream; `undefined` if that event is unknown or too
   * old. Until a stream is deleted, its last event stays known, even if the event itself was evicted.
   */
  replayEventsAfter(eventId: string): MissedEvents | undefined
  /** Adds an open stream, or replaces the stored stream with the same id. */
  put(stream: OpenStream): void
  /**
   * Removes a stream that has ended. Its events remain, because the client may still request the events
   * that it missed.
   */
  delete(streamId: string): void
  /** The open streams in the order of opening. */
  openStreams(): OpenStream[]
  /**
   * Returns the connection of an open stream that existed before the process started. Only needed on platforms
   * that keep connections open while the process is evicted from memory, such as Durable Objects.
   */
  sink?(streamId: string): Sink | undefined
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
