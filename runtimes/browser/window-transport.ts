/**
 * Messages between two windows, such as a page and its frame, its opener, or its popup. Messages from
 * other windows and origins are ignored.
 *
 * @see https://html.spec.whatwg.org/multipage/web-messaging.html#posting-messages
 */
import { parseUrl } from '#internal/patterns'
import type { MessagePortOptions } from '#internal/ports'
import { SdkError } from '../../src/index.ts'
import {
  channelTransport,
  type MessageChannelLike,
  type Transport,
} from '../../src/transport/index.ts'

/** Settings of {@link windowTransport}. */
export interface WindowTransportOptions extends MessagePortOptions {
  /**
   * The origin that the other window must have, such as `https://host.example`. `'null'` is for a
   * sandboxed window: messages then go to any document that the window shows. `'*'` is for views
   * that cannot know their host: the transport then adopts the origin of the first message from the
   * window.
   */
  readonly origin: string
}

/** How often to check whether the other window still exists, in milliseconds. */
const POLL_MS = 1_000

/**
 * Creates a transport to another window, directly over `postMessage`. If the other window does not use
 * Edgewise, as with MCP Apps, set `handshake: false`. Otherwise prefer {@link openPort} and
 * {@link acceptPorts}: no other code can post to the port that they create.
 *
 * The connection ends when the window is closed or removed, or when a new document in it starts a
 * handshake.
 *
 * @example
 * ```ts
 * import { connect, windowTransport } from 'edgewise/browser'
 *
 * const host = windowTransport(parent, { origin: 'https://host.example', handshake: false })
 * await using client = await connect(host)
 * ```
 *
 * @param target The other window: `frame.contentWindow`, `parent`, `opener`, or what `window.open` returned.
 * @throws {TypeError} If the origin is invalid, or the target is not a window.
 * @see https://html.spec.whatwg.org/multipage/web-messaging.html#posting-messages
 */
export function windowTransport(target: Window, options: WindowTransportOptions): Transport {
  return channelTransport(windowChannel(target, options.origin), options)
}

/** The channel of messages to and from another window. */
function windowChannel(target: Window, origin: string): MessageChannelLike {
  if (!isWindow(target)) throw new TypeError('A window is required')
  requireOrigin(origin)
  let otherOrigin = origin
  let stop = (): void => {}
  return {
    shared: true,
    open({ message, unreadable, closed }) {
      const isFromOtherWindow = (event: MessageEvent): boolean => {
        if (event.source !== target) return false
        // If the origin is not known in advance, the first message determines it
        if (otherOrigin === '*') otherOrigin = event.origin
        return event.origin === otherOrigin
      }
      const onMessage = (event: MessageEvent): void => {
        if (isFromOtherWindow(event)) message(event.data)
      }
      const onError = (event: MessageEvent): void => {
        if (isFromOtherWindow(event)) unreadable()
      }
      const poll = setInterval(() => {
        if (!target.closed) return
        clearInterval(poll)
        closed(new SdkError('CLOSED', 'The other window is gone'))
      }, POLL_MS)
      addEventListener('message', onMessage)
      addEventListener('messageerror', onError)
      stop = () => {
        clearInterval(poll)
        removeEventListener('message', onMessage)
        removeEventListener('messageerror', onError)
      }
    },
    post(value) {
      if (target.closed) throw new SdkError('CLOSED', 'The other window is gone')
      target.postMessage(value, targetOrigin(otherOrigin))
    },
    close: () => stop(),
  }
}

/** Whether a value is a window. Checks only members that windows of other origins expose. */
export function isWindow(target: unknown): target is Window {
  return (
    typeof target === 'object' &&
    target !== null &&
    'window' in target &&
    target.window === target &&
    'postMessage' in target
  )
}

/**
 * Rejects values that cannot be the origin of a message.
 *
 * @throws {TypeError} For a URL with a path, a host without a scheme, or an empty string.
 */
export function requireOrigin(origin: string): void {
  const isOrigin = parseUrl(origin)?.origin === origin
  if (isOrigin || origin === 'null' || origin === '*' || origin === 'file://') return
  throw new TypeError(`"${origin}" is not an origin, such as "https://host.example"`)
}

/** The target origin for `postMessage`. It is `'*'` for opaque origins, which cannot be named. */
export function targetOrigin(origin: string): string {
  return origin === 'null' || origin === 'file://' ? '*' : origin
}
