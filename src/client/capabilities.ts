/**
 * The capabilities that a client declares: those implied by its handlers, and those that the application
 * adds.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#capability-negotiation
 */
import type { ClientCapabilities } from '../protocol/types.ts'
import type { ConnectOptions, BaseConnectOptions } from './options.ts'

/** The capabilities that need no handler. */
export function declaredCapabilities({
  extensions = [],
  auth,
  capabilities = {},
}: BaseConnectOptions): ClientCapabilities {
  const { elicitation: _, sampling: __, roots: ___, ...others } = capabilities
  const declared = {
    ...capabilities.extensions,
    ...auth?.extensions,
    ...Object.fromEntries(extensions.map(({ id, settings }) => [id, settings])),
  }
  return Object.keys(declared).length > 0 ? { ...others, extensions: declared } : others
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
