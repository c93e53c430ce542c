/**
 * What two ends of a message port say to each other beside JSON-RPC: that they are there, and that
 * they leave.
 *
 * A control message is an object with the member `edgewise`, and never one with `jsonrpc`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#custom-transports
 */

/** "I am here." */
export interface Greeting {
  edgewise: 'open'
  /** Who greets. */
  id: string
  /** Whether the sender holds its lock. */
  lock: boolean
  /** Whose greeting this one answers. */
  seen?: string
}

/** One control message. */
export type Control =
  | Greeting
  /** "Whoever waits for somebody here: I have just come." */
  | { edgewise: 'listening' }
  /** "Are you there?" Anything is an answer. */
  | { edgewise: 'ping'; id: string }
  | { edgewise: 'pong'; id: string }
  /** "I leave." */
  | { edgewise: 'bye'; id: string }

/** The control message that a value is, if it is one. */
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

/** The name of the lock that an end holds while it lives. */
export function lockOf(id: string): string {
  return `edgewise-port-${id}`
}
