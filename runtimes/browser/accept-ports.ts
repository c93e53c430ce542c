/**
 * Accepts the message ports that {@link openPort} offers to a worker, to a frame, or to the page
 * around a frame.
 *
 * @see https://html.spec.whatwg.org/multipage/web-messaging.html#message-channels
 */
import { callHook } from '#internal/patterns'
import type { ServeTransportOptions } from '#internal/ports'
import type { MessagePortOptions } from '#internal/ports'
import { serveTransport } from '../../src/presets/server.ts'
import type { Server } from '../../src/presets/server-tiny.ts'
import { messagePortTransport, type Transport } from '../../src/transport/index.ts'
import { requireOrigin } from './window-transport.ts'

/** A port that a client offered. */
export interface IncomingPort {
  /** The transport over the port, which is not started yet. */
  readonly transport: Transport
  /**
   * The origin of the sender, as the browser reports it. Empty if this code runs in a worker, because only
   * pages of the worker's own origin can reach it.
   */
  readonly origin: string
}

/** Settings of {@link acceptPorts}, such as which clients may connect. */
export interface AcceptOptions extends MessagePortOptions {
  /**
   * The origins whose windows may connect, such as `https://host.example`; `'null'` for sandboxed
   * windows. Required in windows. In workers it may be omitted, because the browser allows only the worker's
   * own origin.
   */
  readonly origins?: readonly string[] | undefined
  /** The only window that may connect, such as `parent` or `frame.contentWindow`. */
  readonly source?: Window | undefined
}

/** Settings of {@link servePorts}. */
export interface ServePortsOptions extends AcceptOptions, Omit<ServeTransportOptions, 'signal'> {
  /**
   * Called when a connection fails.
   *
   * @default console.error
   */
  readonly onError?: ((error: unknown) => void) | undefined
}

/** The maximum number of ids of offers that are remembered, to recognize repeated offers. */
const MAX_KNOWN_OFFERS = 1_000

/** The maximum length of the id of an offer. */
const MAX_ID_CHARACTERS = 64

/**
 * Connects a server in a worker of any kind, or in a window, to every client that opens a port to
 * this worker or window. Call this function when the script starts, because a service worker cannot add a
 * listener for messages later.
 *
 * Handlers see the origin of a window as `ctx.principal`.
 *
 * @example
 * ```ts
 * import { servePorts } from 'edgewise/browser'
 * import { createServer } from 'edgewise/server'
 *
 * const server = createServer({ name: 'in-worker', version: '1.0.0' })
 * server.tool('greet', {}, () => 'Hello from a worker')
 * servePorts(server)
 * ```
 *
 * @returns A function that stops accepting ports. Open connections continue.
 * @throws {TypeError} If no origins are given in a window, or one of them is not an origin.
 * @see https://html.spec.whatwg.org/multipage/web-messaging.html#message-channels
 */
export function servePorts(server: Server, options: ServePortsOptions = {}): () => void {
  const { onError = (error: unknown) => console.error(error) } = options
  return acceptPorts(async ({ transport, origin }) => {
    const caller = { ...(origin && { principal: origin }), ...options.caller }
    await serveTransport(server, transport, { ...options, caller }).catch((error: unknown) =>
      callHook(() => onError(error)),
    )
  }, options)
}

/**
 * Accepts the ports that {@link openPort} offers. On each port you can then run a server or a client.
 *
 * @param onPort Called with each port. The promise that it returns keeps a service worker awake.
 * @returns A function that stops accepting ports.
 * @throws {TypeError} If no origins are given in a window, or one of them is not an origin.
 * @see https://html.spec.whatwg.org/multipage/web-messaging.html#message-channels
 */
export function acceptPorts(
  onPort: (incoming: IncomingPort) => unknown,
  options: AcceptOptions = {},
): () => void {
  const { origins, source } = options
  const isWindow = 'document' in globalThis
  if (isWindow && !origins) throw new TypeError('A window must name the origins that may connect')
  origins?.forEach(requireOrigin)
  let knownIds: readonly string[] = []

  const accept = (event: MessageEvent, port: MessagePort): void => {
    const { origin } = event
    const incoming = { transport: messagePortTransport(port, options), origin }
    const handled = (async () => onPort(incoming))().catch(console.error)
    if (isExtendable(event)) event.waitUntil(handled)
  }
  const onMessage = (event: Event): void => {
    const message = event as MessageEvent
    const [port] = message.ports
    const id = offerId(message.data)
    if (id === undefined || !port) return
    const isAllowedOrigin = !origins || origins.includes('*') || origins.includes(message.origin)
    const isAllowedSource = !source || message.source === source
    if (!isAllowedOrigin || !isAllowedSource || knownIds.includes(id)) return port.close()
    knownIds = [...knownIds, id].slice(-MAX_KNOWN_OFFERS)
    accept(message, port)
  }
  const onConnect = (event: Event): void => {
    const message = event as MessageEvent
    const [port] = message.ports
    if (port) accept(message, port)
  }

  addEventListener('message', onMessage)
  // A shared worker receives a port from each page that connects to it
  addEventListener('connect', onConnect)
  return () => {
    removeEventListener('message', onMessage)
    removeEventListener('connect', onConnect)
  }
}

/** The id of an offer; `undefined` if the message is not an offer. */
function offerId(data: unknown): string | undefined {
  if (typeof data !== 'object' || data === null || !('edgewise' in data)) return undefined
  const { edgewise, id } = data as Record<string, unknown>
  return edgewise === 'connect' && typeof id === 'string' && id.length <= MAX_ID_CHARACTERS
    ? id
    : undefined
}

/** Whether an event can keep a service worker awake. */
function isExtendable(event: Event): event is Event & { waitUntil(work: Promise<unknown>): void } {
  return 'waitUntil' in event && typeof event.waitUntil === 'function'
}
