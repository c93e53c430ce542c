/**
 * The capabilities that a client declares. Its handlers imply some of them, and the application can add
 * others.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#capability-negotiation
 */
import type { ClientCapabilities } from '../protocol/types.ts'
import type { ConnectOptions, BaseConnectOptions } from './options.ts'

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

/** The capabilities that the handlers imply. Capabilities without a handler are not declared. */
export function handledCapabilities({
  onElicit,
  onSample,
  roots: rootsOption,
  capabilities = {},
}: ConnectOptions): ClientCapabilities {
  const { elicitation = { form: {} }, sampling = {}, roots = { listChanged: true } } = capabilities
  return {
    ...(onElicit && { elicitation }),
    ...(onSample && { sampling }),
    ...(rootsOption && { roots }),
  }
}
