/**
 * The interface of channels that carry values between two ends, and its implementation for message ports
 * and workers.
 *
 * @see https://html.spec.whatwg.org/multipage/web-messaging.html
 */
import { SdkError } from '../../protocol/errors.ts'

/** The functions that a {@link MessageChannelLike} calls when something happens on the channel. */
export interface ChannelCallbacks {
  /** Called with each value that arrives from the peer. Must not be called with values from other senders. */
  message(data: unknown): void
  /** Called when a value arrives that cannot be deserialized. */
  unreadable(): void
  /** Called when the channel fails, possibly before the peer was created. */
  failed(reason: Error): void
  /** Called when the peer is gone. */
  closed(reason?: Error): void
  /** Called when the application closes the port directly. At this time, the peer can still be notified. */
  closing(): void
}

/** Carries values to and from one peer. */
export interface MessageChannelLike {
  /**
   * Whether other code posts on the same channel. If so, values that are not MCP messages are ignored.
   * Otherwise, such values are reported as malformed.
   */
  readonly shared: boolean
  /** Starts calling the callbacks. Called once, before any `post`. */
  open(callbacks: ChannelCallbacks): void
  /** Posts a value: an object that JSON can represent, or a string. */
  post(value: unknown): void
  /** Stops calling the callbacks, and releases the resources of this connection. */
  close(): void
}

/** A message port, or an object with the same interface: a worker, or the global scope of a worker. */
export interface PortLike {
  /** Sends a structured clone. */
  postMessage(message: unknown): void
  /** Listens to `message`, `messageerror` and `close`. */
  addEventListener(type: string, listener: (event: Event) => void): void
  /** Removes a listener. */
  removeEventListener(type: string, listener: (event: Event) => void): void
  /** Starts the delivery of messages. Ports have this method, but workers do not. */
  start?(): void
  /** Closes the connection, if this end owns it. */
  close?(): void
}

/** Carries values over a port. */
export function portCarrier(port: PortLike): MessageChannelLike {
  if (typeof port?.postMessage !== 'function' || typeof port.addEventListener !== 'function') {
    throw new TypeError('A message port or a worker is required')
  }
  // Workers have no `start`. Other code may post to a worker, and the transport must not end the worker
  const isPort = typeof port.start === 'function'
  const { close } = port
  let listeners: [type: string, listener: (event: Event) => void][] = []
  return {
    shared: !isPort,
    open({ message, unreadable, failed, closed, closing }) {
      listeners = [
        ['message', (event) => message((event as MessageEvent).data)],
        ['messageerror', unreadable],
        ['close', () => closed(new SdkError('CLOSED', 'The other end is gone'))],
        ['error', (event) => failed(workerError(event))],
      ]
      for (const listener of listeners) port.addEventListener(...listener)
      port.start?.()
      // Intercepts `close`, because not every browser notifies the peer when the port is closed.
      // The lock of this end cannot notify the peer either, because it outlives the port
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

/** Creates the error for a worker that has failed, with the reason that the browser gives. */
function workerError(event: Event): SdkError {
  const { message = 'its script cannot be loaded' } = event as Partial<ErrorEvent>
  return new SdkError('CLOSED', `The worker failed: ${message}`)
}
