/**
 * A way for whole messages to travel both ways: stdio, message ports, memory. Streamable HTTP is
 * none, as there every request has a stream of its own.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#custom-transports
 */
import type { ProtocolError } from './errors.ts'
import type { JsonRpcMessage } from './jsonrpc.ts'

/** Takes what arrives on a {@link Transport}. */
export interface Receiver {
  /**
   * Takes one frame: parsed JSON, not validated yet. While the promise that it returns is pending,
   * the transport reads no further.
   */
  message(frame: unknown): void | Promise<void>
  /** Learns of a frame that could not be read: not JSON, or too long. The connection goes on. */
  malformed(error: ProtocolError): void
  /** Learns, once, that nothing more will arrive, and why if it was not asked for. */
  closed(reason?: Error): void
}

/** A duplex connection of frames. Either side may be client or server. */
export interface Transport {
  /** Starts delivering to the receiver. Called once, before any `send`. */
  start(receiver: Receiver): void | Promise<void>
  /**
   * Sends one frame; resolves when the connection has taken it, so that awaiting it is
   * backpressure.
   *
   * @throws {McpError} `CLOSED` when the connection is closed.
   */
  send(frame: JsonRpcMessage | readonly JsonRpcMessage[]): Promise<void>
  /** Ends the connection after what was sent is flushed. Safe to call twice. */
  close(): Promise<void>
  /**
   * Begins anew with a fresh peer, for transports that start their peer themselves: ends the old
   * one if it still runs, and delivers to the same receiver, which must be ready to hear of
   * `closed` once more. Repeated restarts wait longer each time. Not after `close`.
   *
   * @throws {McpError} `CLOSED` when the transport was closed, `INVALID_USE` when the peer cannot be
   * started, `LIMIT_EXCEEDED` when it was restarted too often in a row.
   */
  restart?(): Promise<void>
}

/**
 * What is given as a transport, where it is one.
 *
 * @throws {TypeError} when it is none.
 */
export function requireTransport(given: Transport): Transport {
  if (typeof given?.start === 'function') return given
  throw new TypeError('A transport is needed, or a URL')
}
