/**
 * The control messages that the two ends of a message port exchange in addition to JSON-RPC: they
 * open the connection, check that the peer is alive, and close the connection.
 *
 * A control message is an object with the member `edgewise`, and without the member `jsonrpc`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#custom-transports
 */

/** The message with which an end opens the connection. */
export interface Handshake {
  edgewise: 'open'
  /** The id of the sender. */
  id: string
  /** Whether the sender holds the lock that is named by {@link lockName}. */
  lock: boolean
  /** The id of the sender of the handshake message that this message answers. Absent if it answers none. */
  seen?: string
}

/** One control message. `id` is the id of the sender. */
export type Control =
  | Handshake
  /**
   * The sender has just started. An end that has no peer yet answers by sending its handshake message
   * again.
   */
  | { edgewise: 'listening' }
  /** Asks for a sign of life. Any message is an answer. */
  | { edgewise: 'ping'; id: string }
  | { edgewise: 'pong'; id: string }
  /** The sender closes the connection. */
  | { edgewise: 'bye'; id: string }

/** Parses a control message; `undefined` if the value is not one. */
export function readControl(value: unknown): Control | undefined {
  if (typeof value !== 'object' || value === null || !('edgewise' in value)) return undefined
  const { edgewise, id, lock, seen } = value as Record<string, unknown>
  if (edgewise === 'listening') return { edgewise }
  if (typeof id !== 'string' || id.length > 64) return undefined
  if (edgewise === 'ping' || edgewise === 'pong' || edgewise === 'bye') return { edgewise, id }
  if (edgewise !== 'open') return undefined
  const open = { edgewise, id, lock: lock === true } as const
  return typeof seen === 'string' ? { ...open, seen } : open
}

/** The name of the lock that an end holds while it is alive. */
export function lockName(id: string): string {
  return `edgewise-port-${id}`
}
