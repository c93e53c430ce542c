/**
 * Failures that may be gone at the next attempt.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import type { McpError } from '../protocol/errors.ts'
import { statusOf } from './discover.ts'

/** Whether nobody answered, or a server or proxy that cannot answer right now. */
export function mayPass(error: unknown): boolean {
  const { code } = error as McpError
  if (code !== 'HTTP') return code === 'NETWORK' || code === 'TIMEOUT'
  const status = statusOf(error) ?? 0
  return status === 429 || (status >= 500 && status !== 501)
}
