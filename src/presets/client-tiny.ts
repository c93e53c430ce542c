/**
 * The smallest client: it calls tools, reads resources and gets prompts over HTTP, in every
 * revision. `edgewise/client` exports the same names, and has all other features.
 *
 * @module
 */
import { BaseClient } from '../client/base-client.ts'
import { declaredCapabilities } from '../client/capabilities.ts'
import { createPageWalker } from '../client/features/page-walker.ts'
import { noInputHandlers } from '../client/features/no-input-handlers.ts'
import { BASE_OPTION_NAMES } from '../client/option-names.ts'
import type { BaseConnectOptions } from '../client/options.ts'
import { httpTarget } from '../connect/http-target.ts'
import { openClient } from '../connect/open-client.ts'
import { requireKnown } from '../patterns/known-options.ts'

/** The subject of the error message about an unknown option. */
const OPTIONS_OWNER = 'The tiny client ("edgewise/client" has more)'

/**
 * Connects to a server of any revision. Resolves with a client that is ready for use.
 *
 * The client does not answer input requests, subscribe to changes, cache results or support other
 * transports. For these features, import `connect` from `edgewise/client`.
 *
 * @example
 * ```ts
 * import { connect } from 'edgewise/client/tiny'
 *
 * await using client = await connect('https://example.com/mcp')
 * const { content } = await client.callTool('add', { a: 1, b: 2 })
 * ```
 *
 * @param target The URL of an endpoint, over Streamable HTTP; a server of 2024-11-05 needs the option
 *   `fallback: httpSse`.
 * @throws {SdkError} `INVALID_USE` if the URL or a revision is invalid; `VERSION_MISMATCH`,
 *   `INVALID_MESSAGE`, `UNSUPPORTED`, `NETWORK`, `TIMEOUT`, `ABORTED`, `UNAUTHORIZED`, `FORBIDDEN`,
 *   `HTTP` or `CLOSED` if connecting fails.
 * @throws {TypeError} If an option is unknown.
 * @throws {ProtocolError} The error response of the server to the handshake.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
 */
export async function connect(
  target: string | URL,
  options: BaseConnectOptions = {},
): Promise<BaseClient> {
  requireKnown(OPTIONS_OWNER, options, BASE_OPTION_NAMES)
  return openClient({
    options,
    target: httpTarget(target),
    capabilities: declaredCapabilities(options),
    compose: (connection) => ({
      client: new BaseClient(connection),
      inputHandlers: noInputHandlers(connection),
      walkPages: createPageWalker(options.maxPages),
    }),
  })
}

export type { BaseClient as Client }
export type { BaseConnectOptions as ConnectOptions } from '../client/options.ts'
export { loadIcon, selectIcon } from '../client/presentation/icons.ts'
export { toolHints } from '../client/presentation/tool-hints.ts'
export { httpSse } from '../transport/http-sse/client.ts'
export { clientObserver } from '../client/observed-connection.ts'
export { clientExtension } from '../client/client-extension.ts'
export type { ClientExtension, ClientMiddleware } from '../client/extension.ts'
export { middleware } from '../client/middleware.ts'
export { logRequests } from '../client/log-requests.ts'
export { retry } from '../client/retry.ts'
export { throttle } from '../client/throttle.ts'
export type { AuthProvider } from '../protocol/http-options.ts'
export type { ClientObserver, VersionCache } from '../client/options.ts'
export type { Observation, Observer, Operation, Outcome } from '../protocol/observation.ts'
export type { RequestOptions } from '../client/request-options.ts'
export {
  isResourceNotFound,
  SdkError,
  ProtocolError,
  type SdkErrorCode,
} from '../protocol/errors.ts'
