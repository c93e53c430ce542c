/**
 * The streams of a session over HTTP. Each message is stored and sent on exactly one stream. The message
 * reaches the client immediately, or when the client resumes the stream.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
import { wellFormedJson } from '../protocol/well-formed-json.ts'
import type { JsonRpcMessage } from '../protocol/types.ts'
import type { EventStore, MissedEvents, ResumableCall, Sink } from './event-store.ts'

/** The prefix of the ids of streams for messages that belong to no request. */
const STANDALONE_PREFIX = 'get-'

/** A stream of a session, on which messages are sent to the client. */
export interface OutgoingStream {
  readonly id: string
  /** Stores a message, and sends it if a client is connected. */
  send(message: JsonRpcMessage): Promise<void> | undefined
  /**
   * Sends an event without data. The id of the event allows the client to resume the stream.
   *
   * @param retryMs How long the client should wait before it reconnects, in milliseconds.
   */
  sendEventId(retryMs?: number): void
  /** Connects a client. An earlier connection is closed. */
  connect(sink: Sink): void
  /** Closes the connection, and asks the client to connect again after `retryMs` milliseconds. */
  disconnectFor(retryMs: number): void
}

/** The streams of a session, for any storage of events. */
export interface Streams {
  /** The open streams of calls that can be run again. */
  readonly calls: ReadonlyMap<ResumableCall, OutgoingStream>
  /** Whether a client is connected to any stream. */
  readonly connected: boolean
  /**
   * Opens a stream for the messages that belong to one request, or to a batch of requests.
   *
   * @param call The request, if it can be run again.
   */
  open(call?: ResumableCall): OutgoingStream
  /** Opens a stream for messages that belong to no request. */
  openStandalone(): OutgoingStream | Promise<OutgoingStream>
  /** Stores a changed call, if its stream is open. */
  saveCall(call: ResumableCall): void | Promise<void>
  /** Ends a stream. Its client can still request the events that it missed. */
  end(stream: OutgoingStream): void
  /** Sends a message that belongs to no request, on one of the streams for such messages. */
  announce(message: JsonRpcMessage): void
  /** Returns the events that followed the given event on its stream; `undefined` if that event is unknown. */
  findMissed(eventId: string): MissedEvents | undefined | Promise<MissedEvents | undefined>
  /**
   * Sends the events that a client missed. If the stream has not ended, connects the client to it.
   *
   * @param lastEventId The id of the last event that the client received. The server sends this id again,
   *   because some clients store only ids that arrive on their latest connection, and this connection may
   *   break before the first event arrives.
   */
  resume(missed: MissedEvents, sink: Sink, lastEventId: string | null): void
  /** Ends every stream. */
  close(): void
}

/** One stream, which may outlive several connections. */
class SessionStream implements OutgoingStream {
  readonly id: string
  /** The call whose response is sent on the stream, if it can be run again. */
  readonly call: ResumableCall | undefined
  readonly #store: EventStore
  #sink: Sink | undefined

  constructor(id: string, store: EventStore, call?: ResumableCall) {
    this.id = id
    this.call = call
    this.#store = store
  }

  /** Whether a client is connected. */
  get connected(): boolean {
    return this.#sink?.open === true
  }

  send(message: JsonRpcMessage): Promise<void> | undefined {
    const data = wellFormedJson(message)
    const id = this.#store.storeEvent(this.id, data)
    return this.#sink?.send({ id, data })
  }

  sendEventId(retryMs?: number): void {
    const id = this.#store.storeEvent(this.id, '')
    if (id !== undefined) void this.#sink?.send({ id, retry: retryMs, data: '' })
  }

  connect(sink: Sink): void {
    if (this.#sink?.open) this.#sink.close()
    this.#sink = sink
  }

  disconnectFor(retryMs: number): void {
    this.sendEventId(retryMs)
    this.disconnect()
  }

  /** Closes the connection. */
  disconnect(): void {
    this.#sink?.close()
    this.#sink = undefined
  }
}

/** The streams of a session that only one process serves. */
export class SessionStreams implements Streams {
  readonly #store: EventStore
  readonly #openStreams = new Map<string, SessionStream>()
  readonly #standaloneStreams = new Set<SessionStream>()
  readonly #calls = new Map<ResumableCall, SessionStream>()

  /** @param store Contains the streams that were open in an earlier process. These streams continue. */
  constructor(store: EventStore) {
    this.#store = store
    for (const { id, call } of store.openStreams()) {
      const stream = this.#add(id, call)
      const sink = store.sink?.(id)
      if (sink) stream.connect(sink)
      if (!call) this.#standaloneStreams.add(stream)
    }
  }

  get calls(): ReadonlyMap<ResumableCall, SessionStream> {
    return this.#calls
  }

  get connected(): boolean {
    return [...this.#openStreams.values()].some((stream) => stream.connected)
  }

  open(call?: ResumableCall): SessionStream {
    const stream = this.#add(randomId(), call)
    if (call) this.#store.put({ id: stream.id, call })
    return stream
  }

  /**
   * Opens a standalone stream, which is then the newest one.
   *
   * @param id The id of an earlier stream, if a client resumes it.
   */
  openStandalone(id: string = STANDALONE_PREFIX + randomId()): SessionStream {
    const stream = this.#openStreams.get(id) ?? this.#add(id)
    this.#standaloneStreams.delete(stream)
    // Ends the streams without a client. If a client resumes one later, this method opens the stream again
    for (const lost of this.#standaloneStreams) if (!lost.connected) this.end(lost)
    this.#standaloneStreams.add(stream)
    this.#store.put({ id })
    return stream
  }

  saveCall(call: ResumableCall): void {
    const stream = this.#calls.get(call)
    if (stream) this.#store.put({ id: stream.id, call })
  }

  end(stream: SessionStream): void {
    stream.disconnect()
    this.#openStreams.delete(stream.id)
    this.#standaloneStreams.delete(stream)
    if (stream.call) this.#calls.delete(stream.call)
    this.#store.delete(stream.id)
  }

  /**
   * Sends a message that belongs to no request. Uses the newest stream that a client is connected to,
   * because an older connection may have broken without being detected.
   */
  announce(message: JsonRpcMessage): void {
    const streams = [...this.#standaloneStreams]
    const stream = streams.findLast(({ connected }) => connected) ?? streams.at(-1)
    void stream?.send(message)
  }

  findMissed(eventId: string): MissedEvents | undefined {
    return this.#store.replayEventsAfter(eventId)
  }

  resume({ stream: streamId, events }: MissedEvents, sink: Sink, lastEventId: string | null): void {
    const stream = streamId.startsWith(STANDALONE_PREFIX)
      ? this.openStandalone(streamId)
      : this.#openStreams.get(streamId)
    if (lastEventId !== null && (stream || events.length > 0)) {
      void sink.send({ id: lastEventId, data: '' })
    }
    for (const { id, message } of events) void sink.send({ id, data: message })
    if (stream) stream.connect(sink)
    else sink.close()
  }

  close(): void {
    for (const stream of this.#openStreams.values()) stream.disconnect()
    this.#openStreams.clear()
    this.#standaloneStreams.clear()
    this.#calls.clear()
  }

  #add(id: string, call?: ResumableCall): SessionStream {
    const stream = new SessionStream(id, this.#store, call)
    this.#openStreams.set(id, stream)
    if (call) this.#calls.set(call, stream)
    return stream
  }
}

function randomId(): string {
  return crypto.randomUUID().slice(0, 8)
}
