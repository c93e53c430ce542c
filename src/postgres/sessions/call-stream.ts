/**
 * A stream that this process writes, for the messages that belong to one call or to a batch of calls.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
import { ignore } from '../../patterns/hooks.ts'
import { isRequest } from '../../protocol/jsonrpc.ts'
import type { JsonRpcMessage } from '../../protocol/types.ts'
import { wellFormedJson } from '../../protocol/well-formed-json.ts'
import type { ResumableCall, Sink } from '../../session/event-store.ts'
import type { OutgoingStream } from '../../session/streams.ts'
import { eventId } from './stream-table.ts'
import type { StreamWriter, WrittenStream } from './writer.ts'

/** The maximum number of events that are stored for a stream. */
const MAX_EVENTS = 1000

/** The maximum number of characters of all stored events of a stream together. */
const MAX_SIZE = 4 * 1024 * 1024

/** The session and the call of a stream, and its callbacks. */
export interface CallStreamOptions {
  readonly session: string
  readonly id: string
  /** The call to which the messages belong; `undefined` if they belong to a batch. */
  readonly call: ResumableCall | undefined
  /** Whether the call can be run again by another process. */
  readonly resumable: boolean
  readonly writer: StreamWriter
  /** The number of the last event, if another process wrote the stream before. */
  readonly seq?: number
  /** Called with the id of each request to the client that is sent on the stream. */
  readonly onServerRequest: (id: number) => void
  /** Called when another process has taken over the stream. */
  readonly onLost: (stream: CallStream) => void
}

/** A stream with one writing process. Its events are stored in order. */
export class CallStream implements OutgoingStream, WrittenStream {
  readonly session: string
  readonly id: string
  readonly call: ResumableCall | undefined
  /** The ids of the requests to the client that were sent on the stream. */
  readonly serverRequests: number[] = []
  /** The ids of those requests whose answers are stored separately, but not yet as part of the call. */
  readonly answeredRequests: Set<number> = new Set()
  readonly #options: CallStreamOptions
  hasOtherReader = false
  #seq: number
  #sink: Sink | undefined
  #isEnded = false
  /** Whether the stream is left to another process. If so, this process neither stores nor sends messages. */
  #isLost = false
  /** Pending while messages wait for a write to the database. */
  #pendingDelivery: Promise<void> | undefined
  /** Whether other processes may not know the stream yet. Its first message waits until the stream is stored. */
  #isUnknown: boolean
  /** The sizes of the stored events. The last size belongs to the event with the number `#seq`. */
  readonly #sizes: number[] = []
  #size = 0
  /** How many events were dropped but not deleted from the database yet. A long event counts as several. */
  #untrimmed = 0

  constructor(options: CallStreamOptions) {
    this.#options = options
    this.session = options.session
    this.id = options.id
    this.call = options.call
    this.#seq = options.seq ?? 0
    this.#isUnknown = options.seq === undefined
  }

  /** The number of the last event. */
  get seq(): number {
    return this.#seq
  }

  /** Whether a client is connected to the stream in this process. */
  get connected(): boolean {
    return this.#sink?.open === true
  }

  get request(): string | null {
    return this.call ? JSON.stringify(this.call.request.id) : null
  }

  get callText(): string | null {
    return this.#options.resumable && this.call ? JSON.stringify(this.call) : null
  }

  /** Resolves when no message waits for a write; `undefined` if none waits. */
  get pendingDelivery(): Promise<void> | undefined {
    return this.#pendingDelivery
  }

  send(message: JsonRpcMessage): Promise<void> | undefined {
    if (this.#isLost) return undefined
    const data = wellFormedJson(message)
    const seq = ++this.#seq
    this.#options.writer.addEvent(this, seq, data)
    this.#enforceLimits(data.length)
    const isServerRequest = isRequest(message)
    if (isServerRequest && typeof message.id === 'number') {
      this.serverRequests.push(message.id)
      this.#options.onServerRequest(message.id)
    }
    return this.#deliver((sink) => sink.send({ id: eventId(this.id, seq), data }), {
      afterWrites: isServerRequest,
    })
  }

  sendEventId(retry?: number): void {
    const id = eventId(this.id, this.#seq)
    void this.#deliver((sink) => sink.send({ id, retry, data: '' }))
  }

  connect(sink: Sink): void {
    this.disconnect()
    this.#sink = sink
    if (this.#isEnded) sink.close()
  }

  disconnectFor(retryMs: number): void {
    this.sendEventId(retryMs)
    void this.#deliver(() => this.disconnect())
  }

  /** Closes the connection. The stream continues, and a client may resume it on any process. */
  disconnect(): void {
    if (this.#sink?.open) this.#sink.close()
    this.#sink = undefined
  }

  /** Ends the stream after the messages that were sent. */
  end(): void {
    if (this.#isLost) return
    this.#isEnded = true
    this.#options.writer.end(this)
    void this.#deliver(() => this.disconnect())
  }

  /** Stores the changed call. */
  save(): void {
    if (!this.#isLost) this.#options.writer.save(this)
  }

  /** Stops writing the stream, because another process has taken it over or is about to do so. */
  abandon(): void {
    this.#isLost = true
    this.#isEnded = true
    this.disconnect()
  }

  lose(): void {
    this.abandon()
    this.#options.onLost(this)
  }

  /**
   * Calls `sendTo` with the connected client, after the messages that wait. With `afterWrites`, waits until
   * all writes so far have been stored.
   */
  #deliver(
    sendTo: (sink: Sink) => Promise<void> | undefined | void,
    { afterWrites = false }: { afterWrites?: boolean } = {},
  ): Promise<void> | undefined {
    const deliverNow = (): Promise<void> | undefined =>
      (this.#sink && sendTo(this.#sink)) || undefined
    const waitsForWrites = afterWrites || this.#isUnknown
    this.#isUnknown = false
    if (!waitsForWrites && !this.#pendingDelivery) return deliverNow()
    // A message that cannot be stored is sent anyway
    const written = waitsForWrites ? this.#options.writer.flush().catch(ignore) : undefined
    const delivery = Promise.resolve(this.#pendingDelivery)
      .then(() => written)
      .then(() => {
        if (this.#pendingDelivery === delivery) this.#pendingDelivery = undefined
        return deliverNow()
      })
    this.#pendingDelivery = delivery
    return delivery
  }

  /**
   * Drops the oldest events at the limits. The dropped events are deleted from the database when they make up an
   * eighth of a limit.
   */
  #enforceLimits(size: number): void {
    const sizes = this.#sizes
    sizes.push(size)
    this.#size += size
    while (sizes.length > MAX_EVENTS || (this.#size > MAX_SIZE && sizes.length > 1)) {
      const droppedSize = sizes.shift() ?? 0
      this.#size -= droppedSize
      this.#untrimmed += Math.max(1, (droppedSize / MAX_SIZE) * MAX_EVENTS)
    }
    if (this.#untrimmed < MAX_EVENTS / 8) return
    this.#untrimmed = 0
    this.#options.writer.trim(this, this.#seq - sizes.length)
  }
}
