/**
 * What a client declares: its handlers, and what the application adds.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#capability-negotiation
 */
import type { ClientCapabilities } from '../protocol/types.ts'
import type { ConnectOptions } from './options.ts'

/** The capabilities that the options amount to. What nothing handles is not declared. */
export function declaredCapabilities({
  onElicit,
  onSample,
  roots: places,
  extensions,
  capabilities = {},
}: ConnectOptions): ClientCapabilities {
  const {
    elicitation = { form: {} },
    sampling = {},
    roots = { listChanged: true },
    ...others
  } = capabilities
  return {
    ...others,
    ...(onElicit && { elicitation }),
    ...(onSample && { sampling }),
    ...(places && { roots }),
    ...(extensions && {
      extensions: {
        ...capabilities.extensions,
        ...Object.fromEntries(extensions.map(({ id, settings }) => [id, settings])),
      },
    }),
  }
}
