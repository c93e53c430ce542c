/**
 * MCP messages over `postMessage`: message ports, workers, windows, broadcast channels.
 *
 * - Establishment: each end sends `open` when it starts. An end that receives an `open` answers it with an
 *   `open` of its own, unless the received `open` is such an answer. Either end may start first. See `port-control.ts`.
 * - Framing: each JSON-RPC message or batch is posted as one object, or as JSON text if the option `format` requires
 *   it. Both forms are accepted.
 * - Cancellation: by `notifications/cancelled`, as on stdio.
 * - Close: by `bye`, or by the `close` event of ports that support it.
 * - Loss of the peer: if both ends have the same origin, each end holds a lock, which the browser releases when the
 *   end is gone. Otherwise the loss is detected by silence, and pings are sent. With locks, silence is allowed: an
 *   end may be alive but silent, for example at a breakpoint or in a long calculation.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#custom-transports
 */
import { MAX_TIMER_MS } from '../../patterns/timers.ts'
import { wellFormedJson } from '../../protocol/well-formed-json.ts'
import { SdkError, ProtocolError } from '../../protocol/errors.ts'
import { INVALID_REQUEST, PARSE_ERROR } from '../../protocol/error-codes.ts'
import type { JsonRpcMessage } from '../../protocol/types.ts'
import { isObject, parseJson } from '../../protocol/validate.ts'
import { Inbox } from '../inbox.ts'
import { jsonCopy } from '../json-copy.ts'
import { readJson } from './json-size.ts'
import { Heartbeat, holdLock, watchLock } from './liveness.ts'
import { portCarrier, type MessageChannelLike, type PortLike } from './port-carrier.ts'
import { lockName, readControl, type Control, type Handshake } from './port-control.ts'
import type { Receiver, Transport } from '../../protocol/transport.ts'

/** Settings of {@link messagePortTransport}. */
export interface MessagePortOptions {
  /**
   * The maximum length of a message, in UTF-16 units of its JSON. The length of objects is estimated. A
   * longer message is reported as malformed, and the connection continues.
   *
   * @default 16777216
   */
  readonly maxMessageLength?: number | undefined
  /**
   * Whether the ends perform a handshake. Without a handshake, only JSON-RPC is posted. Peers other than
   * Edgewise expect this, for example the views and hosts of MCP Apps. The peer must then be listening
   * already, and only the `close` event of a port shows that the peer has ended.
   *
   * @default true
   */
  readonly handshake?: boolean | undefined
  /**
   * How long to wait for the peer's handshake, in milliseconds. `Infinity` disables the limit.
   *
   * @default 30000
   */
  readonly openTimeoutMs?: number | undefined
  /**
   * How long the peer may be silent before the connection counts as lost, in milliseconds. After half of that time, the
   * peer is pinged. If both ends can see each other's locks, this option has no effect: no pings are sent, and silence
   * is not limited. `Infinity` disables the limit.
   *
   * @default 60000
   */
  readonly silenceMs?: number | undefined
  /**
   * How messages are posted: as objects, or as JSON text for peers that accept only strings.
   *
   * @default 'object'
   */
  readonly format?: 'object' | 'text' | undefined
}

/** How long to wait for messages that are still in transit after the peer has ended, in milliseconds. */
const DRAIN_MS = 100

/**
 * Creates a transport over a port: a `MessagePort`, a `Worker`, the global scope of a worker, or
 * any object with the same interface. The port must have one peer at its other end. Closing the
 * transport closes a port, but does not terminate a worker.
 *
 * `start` resolves when the handshake is complete.
 *
 * @throws {TypeError} If the value is neither a port nor a worker.
 * @throws {SdkError} From `start`: `TIMEOUT` if the peer does not complete the handshake in time.
 * @see https://html.spec.whatwg.org/multipage/web-messaging.html#message-channels
 */
export function messagePortTransport(port: PortLike, options?: MessagePortOptions): Transport {
  return channelTransport(portCarrier(port), options)
}

/**
 * Creates a transport over any channel that carries values to one peer. In all other respects it works like {@link
 * messagePortTransport}.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#custom-transports
 */
export function channelTransport(
  carrier: MessageChannelLike,
  options: MessagePortOptions = {},
): Transport {
  return new MessagePortTransport(carrier, options)
}

class MessagePortTransport implements Transport {
  readonly #id = crypto.getRandomValues(new Uint32Array(4)).join('-')
  readonly #carrier: MessageChannelLike
  readonly #options: MessagePortOptions
  readonly #maxLength: number
  /** Aborts when the connection ends. */
  readonly #closeController = new AbortController()
  /** Settles when the handshake completes or fails. */
  readonly #opened: Promise<void>
  #resolveOpened!: () => void
  #rejectOpened!: (error: Error) => void
  #isOpen = false
  #hasEnded = false
  #receiver: Receiver | undefined
  /** The handshake message of this end. Absent until it is known whether this end holds its lock. */
  #handshake: Handshake | undefined
  /** The id of the peer, once it has sent its handshake message. */
  #peerId: string | undefined
  #heartbeat: Heartbeat | undefined
  readonly #inbox = new Inbox(
    (frame) => this.#receiver?.message(frame),
    (reason) => this.#end(reason),
  )

  constructor(carrier: MessageChannelLike, options: MessagePortOptions) {
    this.#carrier = carrier
    this.#options = options
    this.#maxLength = options.maxMessageLength ?? 16_777_216
    this.#opened = new Promise((resolve, reject) => {
      this.#resolveOpened = resolve
      this.#rejectOpened = reject
    })
    // A failure is reported to each sender. It must not be an unhandled rejection too
    this.#opened.catch(() => {})
  }

  start(receiver: Receiver): Promise<void> {
    this.#receiver = receiver
    this.#carrier.open({
      message: (data) => this.#receive(data),
      unreadable: () =>
        this.#reportMalformed(
          new ProtocolError(PARSE_ERROR, 'Parse error: the message cannot be cloned'),
        ),
      failed: (reason) => {
        // Later errors, such as uncaught exceptions in a worker, do not end the connection
        if (!this.#isOpen) this.#end(reason)
      },
      closed: (reason) => this.#endLater(reason),
      closing: () => this.#end(new SdkError('CLOSED', 'The port was closed')),
    })
    if (this.#options.handshake === false) this.#establish()
    else void this.#sendHandshake()
    return this.#opened
  }

  async send(frame: JsonRpcMessage | readonly JsonRpcMessage[]): Promise<void> {
    // Copied now, because the message may be changed before the handshake completes
    const data = this.#options.format === 'text' ? wellFormedJson(frame) : jsonCopy(frame)
    await this.#opened
    if (this.#closeController.signal.aborted) throw closedError()
    this.#carrier.post(data)
  }

  close(): Promise<void> {
    this.#end()
    return Promise.resolve()
  }

  async #sendHandshake(): Promise<void> {
    const { openTimeoutMs = 30_000 } = this.#options
    if (openTimeoutMs <= MAX_TIMER_MS) {
      const onTimeout = (): void => {
        const message = `No answer on the port within ${openTimeoutMs} ms`
        this.#end(new SdkError('TIMEOUT', message))
      }
      const timer = setTimeout(onTimeout, openTimeoutMs)
      const stop = (): void => clearTimeout(timer)
      this.#opened.then(stop, stop)
    }
    const holdsLock = await holdLock(lockName(this.#id), this.#closeController.signal)
    this.#handshake = { edgewise: 'open', id: this.#id, lock: holdsLock }
    this.#sendControl({ ...this.#handshake, ...(this.#peerId && { seen: this.#peerId }) })
    // The peer's handshake message may have arrived while this end was waiting for its lock
    if (this.#peerId) this.#establish()
  }

  /** Marks the handshake as complete, so that messages can be sent from now on. */
  #establish(): void {
    this.#isOpen = true
    this.#resolveOpened()
  }

  /** Sends a control message, if the handshake is enabled. */
  #sendControl(control: Control): void {
    if (this.#options.handshake === false || this.#closeController.signal.aborted) return
    try {
      this.#carrier.post(this.#options.format === 'text' ? JSON.stringify(control) : control)
    } catch (cause) {
      this.#end(closedError(cause))
    }
  }

  #receive(data: unknown): void {
    if (this.#closeController.signal.aborted) return
    let frame = data
    try {
      if (typeof data === 'string') {
        if (data.length > this.#maxLength) {
          throw new ProtocolError(INVALID_REQUEST, 'The message is too long')
        }
        frame = parseJson(data)
      }
      const control = readControl(frame)
      if (control) return this.#handleControl(control)
      if (this.#carrier.shared && !isJsonRpc(frame)) return
      if (typeof data !== 'string') frame = readJson(data, this.#maxLength)
    } catch (error) {
      // An invalid value on a shared channel may come from other code
      if (this.#carrier.shared && !isJsonRpc(frame)) return
      return this.#reportMalformed(error as ProtocolError)
    }
    this.#heartbeat?.noteMessage()
    // Messages before the handshake are ignored
    if (this.#isOpen) this.#inbox.deliver(frame)
  }

  #handleControl(control: Control): void {
    if (this.#options.handshake === false) return
    if (control.edgewise === 'listening') {
      if (!this.#peerId && this.#handshake) this.#sendControl(this.#handshake)
      return
    }
    const { edgewise, id } = control
    // On some channels a sender receives its own messages
    if (id === this.#id) return
    if (edgewise === 'open') return this.#acceptPeer(control)
    // A peer that leaves a port before the handshake will not return. On a shared channel, another peer may follow
    const isBeforeHandshake = this.#peerId === undefined
    if (edgewise === 'bye' && isBeforeHandshake && !this.#carrier.shared) return this.#end()
    if (id !== this.#peerId) return
    this.#heartbeat?.noteMessage()
    if (edgewise === 'ping') this.#sendControl({ edgewise: 'pong', id: this.#id })
    if (edgewise === 'bye') this.#end()
  }

  /** Handles the handshake message of a peer. */
  #acceptPeer({ id, lock: holdsLock, seen: answeredId }: Handshake): void {
    // The message may answer another end of a shared channel
    if (answeredId !== undefined && answeredId !== this.#id) return
    if (this.#peerId !== undefined && this.#peerId !== id) {
      return this.#end(new SdkError('CLOSED', 'The other end was replaced'))
    }
    if (answeredId === undefined && this.#handshake)
      this.#sendControl({ ...this.#handshake, seen: id })
    if (this.#peerId) return
    this.#peerId = id
    if (this.#handshake) this.#establish()
    void this.#watchPeer(id, holdsLock)
  }

  /** Detects the end of the peer: by its lock if possible, otherwise by silence. */
  async #watchPeer(id: string, holdsLock: boolean): Promise<void> {
    const { signal } = this.#closeController
    const onGone = (): void => this.#endLater(new SdkError('CLOSED', 'The other end is gone'))
    const isWatched = holdsLock && (await watchLock(lockName(id), signal, onGone))
    if (isWatched || signal.aborted) return
    const { silenceMs = 60_000 } = this.#options
    if (silenceMs > MAX_TIMER_MS) return
    this.#heartbeat = new Heartbeat(
      silenceMs,
      () => this.#sendControl({ edgewise: 'ping', id: this.#id }),
      () => this.#end(new SdkError('CLOSED', 'The other end went silent')),
    )
    this.#heartbeat.start()
  }

  #reportMalformed(error: ProtocolError): void {
    if (this.#isOpen) this.#receiver?.malformed(error)
  }

  /** Ends the connection after a delay, because the last messages of the peer may still be in transit. */
  #endLater(reason?: Error): void {
    setTimeout(() => this.#end(reason), DRAIN_MS)
  }

  #end(reason?: Error): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#sendControl({ edgewise: 'bye', id: this.#id })
    this.#closeController.abort()
    this.#heartbeat?.stop()
    this.#carrier.close()
    this.#rejectOpened(reason ?? closedError())
    const receiver = this.#receiver
    this.#receiver = undefined
    receiver?.closed(reason)
  }
}

/** Whether a value on a shared channel is meant as JSON-RPC. Other code may post other values. */
function isJsonRpc(value: unknown): boolean {
  return [value].flat().some((message) => isObject(message) && 'jsonrpc' in message)
}

function closedError(cause?: unknown): SdkError {
  return new SdkError('CLOSED', 'Cannot send: the connection is closed', { cause })
}
