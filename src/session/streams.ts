/**
 * The streams of a session over HTTP: each message goes to exactly one, is kept in the log, and
 * reaches the client now or when it resumes.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
import type { JsonRpcMessage } from '../protocol/jsonrpc.ts'
import type { EventLog } from './event-log.ts'

/** Where a stream's events go while a client is connected. */
export interface Sink {
  readonly open: boolean
  send(event: { id?: string; retry?: number; data: string }): Promise<void> | undefined
  close(): void
}

/** One stream, which may outlive several connections. */
export class SessionStream {
  readonly id: string
  readonly #log: EventLog
  #sink: Sink | undefined
  #ended = false

  constructor(id: string, log: EventLog) {
    this.id = id
    this.#log = log
  }

  /** Whether a client is connected. */
  get connected(): boolean {
    return this.#sink?.open === true
  }

  /** Keeps a message and sends it if a client is connected. */
  send(message: JsonRpcMessage): Promise<void> | undefined {
    const data = JSON.stringify(message)
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
    void this.#sink?.send(retry === undefined ? { id, data: '' } : { id, retry, data: '' })
  }

  /** Connects a client; an earlier connection is closed. */
  connect(sink: Sink): void {
    if (this.#sink?.open) this.#sink.close()
    this.#sink = sink
    if (this.#ended) sink.close()
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
  readonly #open = new Map<string, SessionStream>()
  readonly #standalone = new Set<SessionStream>()

  constructor(log: EventLog) {
    this.#log = log
  }

  /** Whether a client is connected to any stream. */
  get connected(): boolean {
    return [...this.#open.values()].some((stream) => stream.connected)
  }

  /** Opens the stream that carries what belongs to one request. */
  open(): SessionStream {
    const stream = new SessionStream(crypto.randomUUID().slice(0, 8), this.#log)
    this.#open.set(stream.id, stream)
    return stream
  }

  /** Opens a stream for what belongs to no request. */
  openStandalone(): SessionStream {
    for (const stale of this.#standalone) if (!stale.connected) this.#standalone.delete(stale)
    const stream = this.open()
    this.#standalone.add(stream)
    return stream
  }

  /** Ends a stream; what it sent can still be resumed. */
  end(stream: SessionStream): void {
    stream.end()
    this.#open.delete(stream.id)
    this.#standalone.delete(stream)
  }

  /** Sends what belongs to no request: on one stream, a connected one if there is any. */
  announce(message: JsonRpcMessage): void {
    const streams = [...this.#standalone]
    const stream = streams.find(({ connected }) => connected) ?? streams.at(-1)
    void stream?.send(message)
  }

  /**
   * Sends what followed an event on its stream, and connects the stream if it goes on.
   *
   * @returns whether the event is known.
   */
  resume(eventId: string, sink: Sink): boolean {
    const missed = this.#log.after(eventId)
    if (!missed) return false
    for (const { id, message } of missed.events) void sink.send({ id, data: message })
    const stream = this.#open.get(missed.stream)
    if (stream) stream.connect(sink)
    else sink.close()
    return true
  }

  /** Ends every stream. */
  close(): void {
    for (const stream of this.#open.values()) stream.end()
    this.#open.clear()
    this.#standalone.clear()
  }
}
