/**
 * The streams of a session over HTTP: each message goes to exactly one, is kept in the log, and
 * reaches the client now or when it resumes.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
import { wellFormedJson } from '../patterns/well-formed-json.ts'
import type { JsonRpcMessage } from '../protocol/jsonrpc.ts'
import type { EventLog, LoggedEvent } from './event-store.ts'
import type { PendingCall, Sink, StreamStore } from './stream-store.ts'

/** One stream, which may outlive several connections. */
export class SessionStream {
  readonly id: string
  /** The request that is being answered on it, where that is kept. */
  readonly call: PendingCall | undefined
  readonly #log: EventLog
  #sink: Sink | undefined
  #ended = false

  constructor(id: string, log: EventLog, call?: PendingCall) {
    this.id = id
    this.call = call
    this.#log = log
  }

  /** Whether a client is connected. */
  get connected(): boolean {
    return this.#sink?.open === true
  }

  /** Keeps a message and sends it if a client is connected. */
  send(message: JsonRpcMessage): Promise<void> | undefined {
    const data = wellFormedJson(message)
    const id = this.#log.append(this.id, data)
    return this.#sink?.send({ id, data })
  }

  /**
   * Gives the client an event id to resume from, without data.
   *
   * @param retry Milliseconds that the client should wait before it reconnects.
   */
  prime(retry?: number): void {
    const id = this.#log.append(this.id, '')
    if (id !== undefined) void this.#sink?.send({ id, retry, data: '' })
  }

  /** Connects a client; an earlier connection is closed. */
  connect(sink: Sink): void {
    if (this.#sink?.open) this.#sink.close()
    this.#sink = sink
    if (this.#ended) sink.close()
  }

  /** Closes the connection; the client may come back for the rest after that many milliseconds. */
  disconnectFor(retryMs: number): void {
    this.prime(retryMs)
    this.disconnect()
  }

  /** Closes the connection; the stream goes on, and a client may resume it. */
  disconnect(): void {
    this.#sink?.close()
    this.#sink = undefined
  }

  /** Ends the stream: nothing more will be sent on it. */
  end(): void {
    this.#ended = true
    this.disconnect()
  }
}

/** All streams of a session. */
export class SessionStreams {
  readonly #log: EventLog
  readonly #store: StreamStore | undefined
  readonly #open = new Map<string, SessionStream>()
  readonly #standalone = new Set<SessionStream>()

  /**
   * @param store Where open streams are kept; those of an earlier host go on.
   */
  constructor(log: EventLog, store?: StreamStore) {
    this.#log = log
    this.#store = store
    for (const { id, call } of store?.all() ?? []) {
      const stream = new SessionStream(id, log, call)
      const sink = store?.sink?.(id)
      if (sink) stream.connect(sink)
      this.#open.set(id, stream)
      if (!call) this.#standalone.add(stream)
    }
  }

  /** The streams of calls that are being answered, where they are kept. */
  calls(): SessionStream[] {
    return [...this.#open.values()].filter(({ call }) => call)
  }

  /** Whether a client is connected to any stream. */
  get connected(): boolean {
    return [...this.#open.values()].some((stream) => stream.connected)
  }

  /** Opens the stream that carries what belongs to one request, or to a batch of them. */
  open(call?: PendingCall): SessionStream {
    const stream = new SessionStream(crypto.randomUUID().slice(0, 8), this.#log, call)
    this.#open.set(stream.id, stream)
    if (call) this.keep(stream)
    return stream
  }

  /** Keeps what changed of a stream. */
  keep({ id, call }: SessionStream): void {
    this.#store?.keep({ id, call })
  }

  /** Opens a stream for what belongs to no request. */
  openStandalone(): SessionStream {
    for (const stale of this.#standalone) if (!stale.connected) this.end(stale)
    const stream = this.open()
    this.#standalone.add(stream)
    this.keep(stream)
    return stream
  }

  /** Ends a stream; what it sent can still be resumed. */
  end(stream: SessionStream): void {
    stream.end()
    this.#open.delete(stream.id)
    this.#standalone.delete(stream)
    this.#store?.forget(stream.id)
    this.#log.ended?.(stream.id)
  }

  /**
   * Sends what belongs to no request on one stream: the newest that a client is connected to, as an
   * older connection may be dead without anybody knowing yet.
   */
  announce(message: JsonRpcMessage): void {
    const streams = [...this.#standalone]
    const stream = streams.findLast(({ connected }) => connected) ?? streams.at(-1)
    void stream?.send(message)
  }

  /** What followed an event on its stream; nothing when the event is not known. */
  missed(eventId: string): { stream: string; events: LoggedEvent[] } | undefined {
    return this.#log.after(eventId)
  }

  /**
   * Sends what a client missed, and connects it to the stream if that goes on.
   *
   * @param after The id of the last event that the client received. It is sent again, as some
   *   clients keep only ids of their latest connection, which may break before any event.
   */
  resume(
    { stream: id, events }: { stream: string; events: LoggedEvent[] },
    sink: Sink,
    after: string | null,
  ): void {
    const stream = this.#open.get(id)
    if (after !== null && (stream || events.length > 0)) void sink.send({ id: after, data: '' })
    for (const { id, message } of events) void sink.send({ id, data: message })
    if (stream) stream.connect(sink)
    else sink.close()
  }

  /** Ends every stream. */
  close(): void {
    for (const stream of this.#open.values()) stream.end()
    this.#open.clear()
    this.#standalone.clear()
  }
}
