/**
 * Failures that may be gone at the next attempt.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import type { McpError } from '../protocol/errors.ts'
import { statusOf } from './discover.ts'

/** Whether nobody answered, or who did only cannot right now. */
export function mayPass(error: unknown): boolean {
  const { code } = error as McpError
  return code === 'NETWORK' || code === 'TIMEOUT' || (code === 'HTTP' && isBusy(statusOf(error)))
}

/** Whether an HTTP status is that of a server, or a proxy, that cannot answer right now. */
export function isBusy(status = 0): boolean {
  return status === 429 || (status >= 500 && status !== 501)
}
