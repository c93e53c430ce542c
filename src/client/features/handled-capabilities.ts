/**
 * The capabilities that the handlers of a client imply. The application can add details.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#capability-negotiation
 */
import type { ClientCapabilities } from '../../protocol/types.ts'
import type { ConnectOptions } from '../options.ts'

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
