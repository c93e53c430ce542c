/**
 * Opens a dedicated message port to a worker of any kind, or to another window. {@link acceptPorts}
 * is the other side.
 *
 * @see https://html.spec.whatwg.org/multipage/web-messaging.html#message-channels
 */
import { backoffMs, MAX_TIMER_MS, sleep } from '#internal/patterns'
import type { MessagePortOptions } from '#internal/ports'
import { SdkError } from '../../src/index.ts'
import { messagePortTransport, type Receiver, type Transport } from '../../src/transport/index.ts'
import { isWindow, requireOrigin, targetOrigin } from './window-transport.ts'

/** The targets to which a port can be opened. */
export type PortTarget = Worker | SharedWorker | ServiceWorker | ServiceWorkerContainer | Window

/** Settings of {@link openPort}. */
export interface OpenPortOptions extends MessagePortOptions {
  /**
   * The origin that a window must have to receive the port; required for windows. With `'null'` and
   * `'*'` the port goes to any document that the window shows at that moment.
   */
  readonly origin?: string | undefined
}

/** The message that offers a port. The port is transferred with it. */
interface PortOffer {
  readonly edgewise: 'connect'
  /** The id of the connection, which all its open offers share. */
  readonly id: string
}

/** The delay before the port is offered a second time, in milliseconds. */
const RETRY_MS = 50
/** The longest delay before the port is offered again, in milliseconds. */
const MAX_RETRY_MS = 1_000
/** The maximum number of open offers. Fewer offers are made within the default timeout. */
const MAX_OFFERS = 60

/**
 * Creates a transport over a message port that is transferred to a worker or a window, so that no
 * other code can post to it.
 *
 * The port is offered again until it is accepted, because the worker may still be starting, or the frame
 * may still be loading. Browsers print a warning if a frame does not have the origin yet. To avoid the
 * warning, wait for the `load` event of the frame. `navigator.serviceWorker` stands for the worker that is
 * active when the transport starts. Closing the transport does not terminate the worker.
 *
 * @example
 * ```ts
 * import { connect, openPort } from 'edgewise/browser'
 *
 * const worker = new Worker('worker.js', { type: 'module' })
 * await using client = await connect(openPort(worker))
 * ```
 *
 * @throws {TypeError} If the target is a window and no valid origin is given.
 * @throws {SdkError} From `start`: `TIMEOUT` if the port is not accepted in time, `CLOSED` if the
 *   worker fails.
 * @see https://html.spec.whatwg.org/multipage/web-messaging.html#message-channels
 */
export function openPort(target: PortTarget, options: OpenPortOptions = {}): Transport {
  if (isWindow(target)) requireOrigin(options.origin ?? '')
  else if ('port' in target) return new OpenedPort(target, options, target.port)
  return new OpenedPort(target, options)
}

class OpenedPort implements Transport {
  readonly #target: PortTarget
  readonly #options: OpenPortOptions
  #id = newId()
  /** The transports of the open offers, until one of them is accepted. */
  readonly #attempts = new Set<Transport>()
  /** The transport over the port that was accepted. */
  #port: Transport | undefined
  /** The promise that `start` returned. */
  #opening: Promise<void> = Promise.resolve()
  /** Rejects the promise that `start` returned. */
  #fail: (error: Error) => void = () => {}
  #closed = false
  /** The port that a shared worker already has, so that none is offered. */
  readonly #workerPort: MessagePort | undefined

  constructor(target: PortTarget, options: OpenPortOptions, workerPort?: MessagePort) {
    this.#target = target
    this.#options = options
    this.#workerPort = workerPort
  }

  start(receiver: Receiver): Promise<void> {
    const target = this.#target
    const { openTimeoutMs = 30_000 } = this.#options
    const onError = (event: Event): void => {
      const { message = 'its script cannot be loaded' } = event as Partial<ErrorEvent>
      this.#fail(new SdkError('CLOSED', `The worker failed: ${message}`))
    }
    const onTimeout = (): void => {
      this.#fail(new SdkError('TIMEOUT', `The port was not accepted within ${openTimeoutMs} ms`))
    }
    let timer: ReturnType<typeof setTimeout> | undefined
    const startTimer = (): void => {
      if (openTimeoutMs <= MAX_TIMER_MS) timer = setTimeout(onTimeout, openTimeoutMs)
    }
    // While a page is prerendering, it cannot start workers or acquire locks, so the timeout begins afterwards
    if (isPrerendering())
      document.addEventListener('prerenderingchange', startTimer, { once: true })
    else startTimer()
    const opened = new Promise<void>((resolve, reject) => {
      this.#fail = reject
      this.#offerUntilAccepted(receiver, resolve).catch(reject)
    })
    if (!isWindow(target)) target.addEventListener('error', onError)
    this.#opening = opened.finally(() => {
      clearTimeout(timer)
      if (!isWindow(target)) target.removeEventListener('error', onError)
      this.#withdraw()
      if (!this.#port) this.#closed = true
    })
    return this.#opening
  }

  async send(...frames: Parameters<Transport['send']>): Promise<void> {
    await this.#opening
    if (!this.#port) throw new SdkError('CLOSED', 'Cannot send: the connection is closed')
    return this.#port.send(...frames)
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#fail(new SdkError('CLOSED', 'The connection was closed'))
    await this.#port?.close()
  }

  /** Offers one port after another, until one is accepted or the transport is closed. */
  async #offerUntilAccepted(receiver: Receiver, onOpen: () => void): Promise<void> {
    for (let retries = 0; ; retries++) {
      if (this.#attempts.size >= MAX_OFFERS) {
        this.#withdraw()
        // If the other side has accepted one of the withdrawn offers, it ignores further offers with the
        // same id
        this.#id = newId()
      }
      const port = this.#workerPort ?? (await this.#offer())
      if (this.#port || this.#closed) return port.close()
      // All attempts share the same timeout
      const attempt = messagePortTransport(port, { ...this.#options, openTimeoutMs: Infinity })
      this.#attempts.add(attempt)
      this.#startAttempt(attempt, receiver, onOpen)
      if (this.#workerPort) return
      await sleep(backoffMs(retries, RETRY_MS, MAX_RETRY_MS))
      if (this.#port || this.#closed) return
    }
  }

  /** Withdraws all offers that were not accepted. */
  #withdraw(): void {
    for (const attempt of this.#attempts) if (attempt !== this.#port) void attempt.close()
    this.#attempts.clear()
  }

  /**
   * Starts the transport over an offered port. The first transport whose port is accepted is chosen.
   */
  #startAttempt(attempt: Transport, receiver: Receiver, onOpen: () => void): void {
    const isChosen = (): boolean => this.#port === attempt
    const started = attempt.start({
      message: (frame) => (isChosen() ? receiver.message(frame) : undefined),
      malformed: (error) => (isChosen() ? receiver.malformed(error) : undefined),
      closed: (reason) => (isChosen() ? receiver.closed(reason) : undefined),
    })
    Promise.resolve(started).then(
      () => {
        if (this.#port || this.#closed || !this.#attempts.has(attempt)) return attempt.close()
        this.#port = attempt
        onOpen()
        return undefined
      },
      // The other side closes offered ports that it does not need, so this error is a failure only if the port
      // was not offered
      (error: Error) => {
        if (this.#workerPort) this.#fail(error)
      },
    )
  }

  /** Transfers one end of a new channel to the target, and returns the other end. */
  async #offer(): Promise<MessagePort> {
    const { port1, port2 } = new MessageChannel()
    const offer: PortOffer = { edgewise: 'connect', id: this.#id }
    const target = this.#target
    if (isWindow(target)) {
      target.postMessage(offer, targetOrigin(this.#options.origin ?? ''), [port2])
    } else if ('ready' in target) (await target.ready).active?.postMessage(offer, [port2])
    else if ('postMessage' in target) target.postMessage(offer, [port2])
    return port1
  }
}

/** Whether this page is prerendering. */
function isPrerendering(): boolean {
  if (!('document' in globalThis)) return false
  return 'prerendering' in document && document.prerendering === true
}

function newId(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-')
}
