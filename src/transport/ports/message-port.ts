/**
 * Whole messages over `postMessage`: message ports, workers, windows, broadcast channels.
 *
 * - Establishment: each end says `open` when it starts and when it hears another's `open` that did
 *   not answer its own, so that either may come first. See `port-control.ts`.
 * - Framing: one JSON-RPC message, or batch, is one posted message; an object by default, its JSON
 *   text if wanted. Both are taken.
 * - Cancellation: by `notifications/cancelled`, as on stdio.
 * - End: by `bye`, by the `close` event of ports where they have it, by a lock that only the browser
 *   of a living end holds (same origin), and by silence otherwise. Beside a lock nobody asks for signs
 *   of life, as an end may live and be silent: at a breakpoint, or in a long calculation.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#custom-transports
 */
import { MAX_DELAY_MS } from '../../patterns/timers.ts'
import { wellFormedJson } from '../../protocol/well-formed-json.ts'
import { INVALID_REQUEST, McpError, PARSE_ERROR, ProtocolError } from '../../protocol/errors.ts'
import type { JsonRpcMessage } from '../../protocol/jsonrpc.ts'
import { parseJson } from '../../protocol/validate.ts'
import { Inbox } from '../inbox.ts'
import { jsonCopy } from '../json-copy.ts'
import { takeJson } from './json-size.ts'
import { Heartbeat, holdLock, watchLock } from './liveness.ts'
import { portCarrier, type MessageChannelLike, type PortLike } from './port-carrier.ts'
import { lockOf, readControl, type Control, type Greeting } from './port-control.ts'
import type { Receiver, Transport } from '../../protocol/transport.ts'

/** Settings of {@link messagePortTransport}. */
export interface MessagePortOptions {
  /**
   * The longest message that is taken, in UTF-16 units of its JSON; what comes as an object is
   * counted roughly. A longer one is reported as malformed, and the connection goes on.
   *
   * @default 16777216
   */
  readonly maxMessageLength?: number | undefined
  /**
   * Whether the ends greet each other. Without, nothing but JSON-RPC is posted, as peers need that
   * are not Edgewise, such as the views and hosts of MCP Apps; then the other end has to listen
   * already, and only the `close` event of a port tells of its end.
   *
   * @default true
   */
  readonly handshake?: boolean | undefined
  /**
   * How long to wait for the other end to greet, in milliseconds; `Infinity` is possible.
   *
   * @default 30000
   */
  readonly openTimeoutMs?: number | undefined
  /**
   * How long the other end may say nothing at all, in milliseconds, before the connection counts as
   * dead; it is asked for a sign of life in the middle of that time. Where both ends can see each
   * other's locks nobody asks. `Infinity` bears any silence.
   *
   * @default 60000
   */
  readonly silenceMs?: number | undefined
  /**
   * In which form messages are posted: as objects, or as JSON text for ends that take only strings.
   *
   * @default 'object'
   */
  readonly format?: 'object' | 'text' | undefined
}

/** How long what was posted before an end may still arrive after it is known, in milliseconds. */
const LAST_WORDS_MS = 100

/**
 * A transport over a port: a `MessagePort`, a `Worker`, the global scope of a worker, or anything
 * like them, with one peer at its other end. A port is closed with the transport; a worker is not
 * ended by it.
 *
 * `start` resolves when the other end has greeted.
 *
 * @throws {McpError} From `start`: `TIMEOUT` when nobody greets in time.
 */
export function messagePortTransport(port: PortLike, options?: MessagePortOptions): Transport {
  return channelTransport(portCarrier(port), options)
}

/** A transport over whatever carries values to one peer; see {@link messagePortTransport}. */
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
  /** Aborts when the connection is over. */
  readonly #over = new AbortController()
  /** Settles when the other end has greeted. */
  readonly #opened: Promise<void>
  #open!: () => void
  #fail!: (error: Error) => void
  #isOpen = false
  #leaving = false
  #receiver: Receiver | undefined
  /** What this end greets with; absent while it is not known yet. */
  #greeting: Greeting | undefined
  /** The other end, as soon as it has greeted. */
  #peer: string | undefined
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
      this.#open = resolve
      this.#fail = reject
    })
    // Who sends learns of it in time
    this.#opened.catch(() => {})
  }

  start(receiver: Receiver): Promise<void> {
    this.#receiver = receiver
    this.#carrier.open({
      message: (data) => this.#take(data),
      unreadable: () => this.#malformed(new ProtocolError(PARSE_ERROR, 'Parse error: no clone')),
      failed: (reason) => {
        if (!this.#isOpen) this.#end(reason)
      },
      closed: (reason) => this.#gone(reason),
      closing: () => this.#end(new McpError('CLOSED', 'The port was closed')),
    })
    if (this.#options.handshake === false) this.#establish()
    else void this.#greet()
    return this.#opened
  }

  async send(frame: JsonRpcMessage | readonly JsonRpcMessage[]): Promise<void> {
    // Here, as what is sent may change before the other end has greeted
    const data = this.#options.format === 'text' ? wellFormedJson(frame) : jsonCopy(frame)
    await this.#opened
    if (this.#over.signal.aborted) throw closedError()
    this.#carrier.post(data)
  }

  close(): Promise<void> {
    this.#end()
    return Promise.resolve()
  }

  async #greet(): Promise<void> {
    const { openTimeoutMs = 30_000 } = this.#options
    if (openTimeoutMs <= MAX_DELAY_MS) {
      const expire = (): void => {
        const what = `Nobody answered on the port within ${openTimeoutMs} ms`
        this.#end(new McpError('TIMEOUT', what))
      }
      const timer = setTimeout(expire, openTimeoutMs)
      const stop = (): void => clearTimeout(timer)
      this.#opened.then(stop, stop)
    }
    const lock = await holdLock(lockOf(this.#id), this.#over.signal)
    this.#greeting = { edgewise: 'open', id: this.#id, lock }
    this.#tell({ ...this.#greeting, ...(this.#peer && { seen: this.#peer }) })
    if (this.#peer) this.#establish()
  }

  /** Both ends have greeted: the other one takes what is sent from now on. */
  #establish(): void {
    this.#isOpen = true
    this.#open()
  }

  /** Says something to the other end, if the ends talk to each other at all. */
  #tell(control: Control): void {
    if (this.#options.handshake === false || this.#over.signal.aborted) return
    try {
      this.#carrier.post(this.#options.format === 'text' ? JSON.stringify(control) : control)
    } catch (cause) {
      this.#end(closedError(cause))
    }
  }

  #take(data: unknown): void {
    if (this.#over.signal.aborted) return
    let frame = data
    try {
      if (typeof data === 'string') {
        if (data.length > this.#maxLength) {
          throw new ProtocolError(INVALID_REQUEST, 'The message is too long')
        }
        frame = parseJson(data)
      }
      const control = readControl(frame)
      if (control) return this.#control(control)
      if (this.#carrier.shared && !isOurs(frame)) return
      if (typeof data !== 'string') frame = takeJson(data, this.#maxLength)
    } catch (error) {
      if (this.#carrier.shared && !isOurs(frame)) return
      return this.#malformed(error as ProtocolError)
    }
    this.#heartbeat?.heard()
    // Nobody is served who has not greeted
    if (this.#isOpen) this.#inbox.deliver(frame)
  }

  #control(control: Control): void {
    if (this.#options.handshake === false) return
    if (control.edgewise === 'listening') {
      if (!this.#peer && this.#greeting) this.#tell(this.#greeting)
      return
    }
    const { edgewise, id } = control
    // On some channels one hears oneself
    if (id === this.#id) return
    if (edgewise === 'open') return this.#meet(control)
    // Who leaves a port of two before greeting will not come any more
    const isUnmet = this.#peer === undefined && !this.#carrier.shared
    if (edgewise === 'bye' && isUnmet) return this.#end()
    if (id !== this.#peer) return
    this.#heartbeat?.heard()
    if (edgewise === 'ping') this.#tell({ edgewise: 'pong', id: this.#id })
    if (edgewise === 'bye') this.#end()
  }

  #meet({ id, lock, seen }: Greeting): void {
    if (seen !== undefined && seen !== this.#id) return
    if (this.#peer !== undefined && this.#peer !== id) {
      return this.#end(new McpError('CLOSED', 'Another end has taken the place of the other one'))
    }
    if (seen === undefined && this.#greeting) this.#tell({ ...this.#greeting, seen: id })
    if (this.#peer) return
    this.#peer = id
    if (this.#greeting) this.#establish()
    void this.#watch(id, lock)
  }

  async #watch(id: string, lock: boolean): Promise<void> {
    const { signal } = this.#over
    const gone = (): void => this.#gone(new McpError('CLOSED', 'The other end is gone'))
    if ((lock && (await watchLock(lockOf(id), signal, gone))) || signal.aborted) return
    const { silenceMs = 60_000 } = this.#options
    if (silenceMs > MAX_DELAY_MS) return
    this.#heartbeat = new Heartbeat(
      silenceMs,
      () => this.#tell({ edgewise: 'ping', id: this.#id }),
      () => this.#end(new McpError('CLOSED', 'The other end went silent')),
    )
    this.#heartbeat.start()
  }

  #malformed(error: ProtocolError): void {
    if (this.#isOpen) this.#receiver?.malformed(error)
  }

  /** The other end is gone, but what it said may still be on its way. */
  #gone(reason?: Error): void {
    setTimeout(() => this.#end(reason), LAST_WORDS_MS)
  }

  #end(reason?: Error): void {
    if (this.#leaving) return
    this.#leaving = true
    this.#tell({ edgewise: 'bye', id: this.#id })
    this.#over.abort()
    this.#heartbeat?.stop()
    this.#carrier.close()
    this.#fail(reason ?? closedError())
    const receiver = this.#receiver
    this.#receiver = undefined
    receiver?.closed(reason)
  }
}

/** Whether a value means to be JSON-RPC, on a channel that others use as well. */
function isOurs(value: unknown): boolean {
  const values: unknown[] = Array.isArray(value) ? value : [value]
  return values.some((one) => typeof one === 'object' && one !== null && 'jsonrpc' in one)
}

function closedError(cause?: unknown): McpError {
  return new McpError('CLOSED', 'Cannot send: the connection is closed', { cause })
}
