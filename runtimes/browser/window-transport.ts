/**
 * Messages between windows: a page and its frames, its opener, its popups. What comes from another
 * window or another origin is not heard.
 *
 * @see https://html.spec.whatwg.org/multipage/web-messaging.html#posting-messages
 */
import type { MessagePortOptions } from '#internal/ports'
import { McpError } from '../../src/index.ts'
import {
  channelTransport,
  type MessageChannelLike,
  type Transport,
} from '../../src/transport/index.ts'

/** Settings of {@link windowTransport}. */
export interface WindowTransportOptions extends MessagePortOptions {
  /**
   * The origin that the other window must have, such as `https://host.example`. `'null'` for one
   * that is sandboxed, to which is posted whatever it shows by then. `'*'` takes the origin of
   * the first message from that window, and holds to it: for views that cannot know their host.
   */
  readonly origin: string
}

/** How often to look whether the other window still exists, in milliseconds. */
const LOOK_MS = 1_000

/**
 * A transport to another window, over `postMessage` itself. Use it with `handshake: false` where the
 * other side is not Edgewise, as with MCP Apps; otherwise {@link openPort} and {@link acceptPorts}
 * give a port that nobody else can post to.
 *
 * A window that is closed, removed, or navigated by somebody who greets, ends the connection.
 *
 * @param target The other window: `frame.contentWindow`, `parent`, `opener`, what `open` returned.
 * @throws {TypeError} When the origin is none, or the target is no window.
 */
export function windowTransport(target: Window, options: WindowTransportOptions): Transport {
  return channelTransport(windowCarrier(target, options.origin), options)
}

function windowCarrier(target: Window, origin: string): MessageChannelLike {
  if (!isWindow(target)) throw new TypeError('A window is needed')
  requireOrigin(origin)
  let pinned = origin
  let stop = (): void => {}
  return {
    shared: true,
    open({ message, unreadable, closed }) {
      const isPeer = (event: MessageEvent): boolean => {
        if (event.source !== target) return false
        if (pinned === '*') pinned = event.origin
        return event.origin === pinned
      }
      const onMessage = (event: MessageEvent): void => {
        if (isPeer(event)) message(event.data)
      }
      const onError = (event: MessageEvent): void => {
        if (isPeer(event)) unreadable()
      }
      const look = setInterval(() => {
        if (!target.closed) return
        clearInterval(look)
        closed(new McpError('CLOSED', 'The other window is gone'))
      }, LOOK_MS)
      addEventListener('message', onMessage)
      addEventListener('messageerror', onError)
      stop = () => {
        clearInterval(look)
        removeEventListener('message', onMessage)
        removeEventListener('messageerror', onError)
      }
    },
    post(value) {
      if (target.closed) throw new McpError('CLOSED', 'The other window is gone')
      target.postMessage(value, postable(pinned))
    },
    close: () => stop(),
  }
}

/** Whether a value is a window; those of other origins tell little more of themselves. */
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
 * Refuses what can be the origin of no message.
 *
 * @throws {TypeError} for a URL with a path, a host without a scheme, nothing at all.
 */
export function requireOrigin(origin: string): void {
  const exact = URL.canParse(origin) && new URL(origin).origin === origin
  if (exact || origin === 'null' || origin === '*' || origin === 'file://') return
  throw new TypeError(`"${origin}" is no origin, such as "https://host.example"`)
}

/** The origin to post to: opaque ones cannot be named. */
export function postable(origin: string): string {
  return origin === 'null' || origin === 'file://' ? '*' : origin
}
