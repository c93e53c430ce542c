/**
 * The capabilities that a client declares without handlers.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#capability-negotiation
 */
import type { ClientCapabilities } from '../protocol/types.ts'
import type { BaseConnectOptions } from './options.ts'

/** The capabilities that need no handler. */
export function declaredCapabilities({
  auth,
  capabilities = {},
}: BaseConnectOptions): ClientCapabilities {
  // Omits the capabilities that need handlers
  const { elicitation: _, sampling: __, roots: ___, ...others } = capabilities
  return auth?.extensions
    ? { ...others, extensions: { ...capabilities.extensions, ...auth.extensions } }
    : others
}
