/**
 * Takes the message ports that {@link openPort} hands over: the side of a worker, a frame, or a page
 * that lets its frames connect.
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

/** A port that somebody handed over. */
export interface IncomingPort {
  /** Not started yet. */
  readonly transport: Transport
  /** Who handed it over, as the browser says; empty for workers, whose owner can be only one. */
  readonly origin: string
}

/** Who may hand ports over. */
export interface AcceptOptions extends MessagePortOptions {
  /**
   * The origins whose windows may connect, such as `https://host.example`; `'null'` for sandboxed
   * ones. Needed in windows. In workers the browser lets nobody in from elsewhere.
   */
  readonly origins?: readonly string[] | undefined
  /** The only window that may connect, such as `parent` or `frame.contentWindow`. */
  readonly source?: Window | undefined
}

/** Settings of {@link servePorts}. */
export interface ServePortsOptions extends AcceptOptions, Omit<ServeTransportOptions, 'signal'> {
  /** Learns of a connection that failed; `console.error` by default. */
  readonly onError?: ((error: unknown) => void) | undefined
}

/** The most offers that are remembered, to know one that comes again. */
const MAX_OFFERS = 1_000

/**
 * Serves a server to everybody who opens a port: in a worker of any kind, or in a window. Call it
 * when the script starts; a service worker cannot add it later.
 *
 * Handlers find the origin of a window as `ctx.principal`.
 *
 * @returns Stops taking ports; connections go on.
 * @throws {TypeError} When a window names no origins.
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
 * Takes ports.
 *
 * @param onPort Gets each; what it returns keeps a service worker awake.
 * @returns Stops taking ports.
 * @throws {TypeError} When a window names no origins.
 */
export function acceptPorts(
  onPort: (incoming: IncomingPort) => unknown,
  options: AcceptOptions = {},
): () => void {
  const { origins, source } = options
  const isWindow = 'document' in globalThis
  if (isWindow && !origins) throw new TypeError('A window must name the origins that may connect')
  origins?.forEach(requireOrigin)
  let known: readonly string[] = []

  const take = (event: MessageEvent, port: MessagePort): void => {
    const { origin } = event
    const incoming = { transport: messagePortTransport(port, options), origin }
    const done = (async () => onPort(incoming))().catch(console.error)
    if (isExtendable(event)) event.waitUntil(done)
  }
  const onMessage = (event: Event): void => {
    const message = event as MessageEvent
    const [port] = message.ports
    const id = offerOf(message.data)
    if (id === undefined || !port) return
    const welcome =
      (!origins || origins.includes('*') || origins.includes(message.origin)) &&
      (!source || message.source === source)
    if (!welcome || known.includes(id)) return port.close()
    known = [...known, id].slice(-MAX_OFFERS)
    take(message, port)
  }
  const onConnect = (event: Event): void => {
    const message = event as MessageEvent
    const [port] = message.ports
    if (port) take(message, port)
  }

  addEventListener('message', onMessage)
  // Shared workers get a port with every page
  addEventListener('connect', onConnect)
  return () => {
    removeEventListener('message', onMessage)
    removeEventListener('connect', onConnect)
  }
}

/** The id of an offer, if a message is one. */
function offerOf(data: unknown): string | undefined {
  if (typeof data !== 'object' || data === null || !('edgewise' in data)) return undefined
  const { edgewise, id } = data as Record<string, unknown>
  return edgewise === 'connect' && typeof id === 'string' && id.length <= 64 ? id : undefined
}

/** Whether an event keeps a service worker awake. */
function isExtendable(event: Event): event is Event & { waitUntil(work: Promise<unknown>): void } {
  return 'waitUntil' in event && typeof event.waitUntil === 'function'
}
