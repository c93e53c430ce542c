/**
 * A transport of whole messages in both directions: stdio, message ports, memory. Streamable HTTP is not
 * a transport in this sense, because every request has its own stream.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#custom-transports
 */
import type { ProtocolError } from './errors.ts'
import type { JsonRpcMessage } from './types.ts'

/** Functions that a {@link Transport} calls for everything that arrives. */
export interface Receiver {
  /**
   * Receives one frame: parsed JSON that is not validated yet. The transport reads no further until the
   * returned promise settles.
   */
  message(frame: unknown): void | Promise<void>
  /** Called for a frame that could not be read: not JSON, or too long. The connection stays open. */
  malformed(error: ProtocolError): void
  /**
   * Called once for each peer, when nothing more will arrive from the peer. `reason` is absent if the
   * connection was closed intentionally.
   */
  closed(reason?: Error): void
}

/**
 * A duplex connection that carries frames. Either side may be the client or the server.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#custom-transports
 */
export interface Transport {
  /** Whether messages travel over a pipe, for observers. */
  readonly isPipe?: boolean | undefined
  /** Starts delivering to the receiver. Called once, before any `send`. */
  start(receiver: Receiver): void | Promise<void>
  /**
   * Sends one frame. Resolves when the connection has accepted it, so that awaiting it applies
   * backpressure.
   *
   * @throws {SdkError} `CLOSED` if the connection is closed.
   */
  send(frame: JsonRpcMessage | readonly JsonRpcMessage[]): Promise<void>
  /** Closes the connection after all sent frames are flushed. May be called twice. */
  close(): Promise<void>
  /**
   * Starts a new peer. Only transports that start their peer, such as a program, have this method.
   *
   * Stops the old peer if it still runs. The receiver stays the same, and its `closed` is called again when
   * the new peer ends. Repeated restarts are delayed with backoff. Must not be called after `close`.
   *
   * @throws {SdkError} `CLOSED` if the transport was closed, `INVALID_USE` if the peer cannot be
   *   started, `LIMIT_EXCEEDED` if the peer was restarted too often in a row.
   */
  restart?(): Promise<void>
}

/**
 * Returns the given transport.
 *
 * @throws {TypeError} If it is not a transport.
 */
export function requireTransport(value: Transport): Transport {
  if (typeof value?.start === 'function') return value
  throw new TypeError('A transport or a URL is required')
}
