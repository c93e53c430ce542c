/**
 * What carries values from one end to the other: the part of a message port that differs from host
 * to host.
 *
 * @see https://html.spec.whatwg.org/multipage/web-messaging.html
 */
import { McpError } from '../../protocol/errors.ts'

/** Learns what happens on a {@link MessageChannelLike}. */
export interface ChannelEvents {
  /** Something came from the peer, and from nobody else. */
  message(data: unknown): void
  /** Something came that cannot be read here. */
  unreadable(): void
  /** Something went wrong, of which the peer may never have been made. */
  failed(reason: Error): void
  /** The peer is gone. */
  closed(reason?: Error): void
  /** The application is about to close the port itself, and the peer can still be notified. */
  closing(): void
}

/** Carries values to one peer, and from it. */
export interface MessageChannelLike {
  /**
   * Whether others post here too. What means nothing to the protocol is then left to them, and
   * reported otherwise.
   */
  readonly shared: boolean
  /** Starts telling of what comes. Called once, before any `post`. */
  open(events: ChannelEvents): void
  /** Posts a value: JSON, or text. */
  post(value: unknown): void
  /** Stops telling, and lets go of what was made for this connection. */
  close(): void
}

/** A message port, or what is used like one: a worker, the global scope of a worker. */
export interface PortLike {
  /** Sends a structured clone. */
  postMessage(message: unknown): void
  /** Listens to `message`, `messageerror` and `close`. */
  addEventListener(type: string, listener: (event: Event) => void): void
  /** Listens no longer. */
  removeEventListener(type: string, listener: (event: Event) => void): void
  /** Lets messages come; ports have it, workers have not. */
  start?(): void
  /** Ends the connection, where that is ours to do. */
  close?(): void
}

/** Carries values over a port. */
export function portCarrier(port: PortLike): MessageChannelLike {
  if (typeof port?.postMessage !== 'function' || typeof port.addEventListener !== 'function') {
    throw new TypeError('A message port is needed, or a worker')
  }
  // What cannot be started is a worker: others may post there, and its end is not for us to decide
  const isPort = typeof port.start === 'function'
  const { close } = port
  let listeners: [type: string, listener: (event: Event) => void][] = []
  return {
    shared: !isPort,
    open({ message, unreadable, failed, closed, closing }) {
      listeners = [
        ['message', (event) => message((event as MessageEvent).data)],
        ['messageerror', unreadable],
        ['close', () => closed(new McpError('CLOSED', 'The other end is gone'))],
        ['error', (event) => failed(workerError(event))],
      ]
      for (const listener of listeners) port.addEventListener(...listener)
      port.start?.()
      // Not every browser notifies the peer, and the lock of this end outlives its port
      if (isPort && close) port.close = closing
    },
    post: (value) => port.postMessage(value),
    close() {
      for (const listener of listeners) port.removeEventListener(...listener)
      if (!isPort || !close) return
      port.close = close
      port.close()
    },
  }
}

/** Why a worker could not be started, as far as it is told. */
function workerError(event: Event): McpError {
  const { message = 'its script cannot be loaded' } = event as Partial<ErrorEvent>
  return new McpError('CLOSED', `The worker failed: ${message}`)
}
