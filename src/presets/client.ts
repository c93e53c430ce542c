/**
 * The client: connects to an MCP server of any revision.
 *
 * @module
 */
import { resultCache } from '../client/cache.ts'
import { declaredCapabilities } from '../client/capabilities.ts'
import { Client } from '../client/client.ts'
import type { WalkPages } from '../client/features.ts'
import { interactionOnDemand, needsInteraction } from '../client/features/interaction-on-demand.ts'
import { BASE_OPTION_NAMES } from '../client/option-names.ts'
import type { BaseConnectOptions, ConnectOptions, Fallback } from '../client/options.ts'
import { loadOnDemand } from '../connect/load-on-demand.ts'
import { openClient } from '../connect/open-client.ts'
import { ReconnectingConnection } from '../connect/reconnecting-client.ts'
import type {
  ReconnectingClient,
  ReconnectingOptions,
  ReconnectingTarget,
} from '../connect/reconnecting-options.ts'
import { cachedHttpTarget } from '../connect/cached-http-target.ts'
import { requireKnown, type OptionNames } from '../patterns/known-options.ts'
import { walkPages } from '../patterns/pages.ts'
import { requireTransport, type Transport } from '../protocol/transport.ts'
import { unlimitedFetch } from '../transport/http/unlimited-fetch.ts'

/** The names of the options that the tiny client does not have. The values have no meaning. */
const OPTION_NAMES: OptionNames<Omit<ConnectOptions, keyof BaseConnectOptions>> = {
  cache: 1,
  versionCache: 1,
  maxListLength: 1,
  validateOutput: 1,
  probeTimeoutMs: 1,
  maxInputs: 1,
  maxConcurrentInputs: 1,
  onElicit: 1,
  onSample: 1,
  roots: 1,
  onToolsChanged: 1,
  onPromptsChanged: 1,
  onResourcesChanged: 1,
  onResourceUpdated: 1,
}

/** The default of the option `fallback`: HTTP+SSE, whose code is loaded on demand. */
const httpSse: Fallback = async (...args) => (await loadOnDemand()).httpSse(...args)

/**
 * Connects to a server of any revision. Resolves with a client that is ready for use.
 *
 * @example
 * ```ts
 * import { connect } from 'edgewise/client'
 *
 * await using client = await connect('https://example.com/mcp')
 * const { content } = await client.callTool('add', { a: 1, b: 2 })
 * ```
 *
 * @param target The URL of an endpoint, over Streamable HTTP or over HTTP+SSE as in 2024-11-05; or a
 * transport: stdio, a message port, or in-memory.
 * @throws {SdkError} `INVALID_USE` if the URL or a revision is invalid; `VERSION_MISMATCH`,
 *   `INVALID_MESSAGE`, `UNSUPPORTED`, `NETWORK`, `TIMEOUT`, `ABORTED`, `UNAUTHORIZED`, `FORBIDDEN`,
 *   `HTTP` or `CLOSED` if connecting fails.
 * @throws {TypeError} If an option is unknown, or the target is neither a URL nor a transport.
 * @throws {ProtocolError} The error response of the server to the handshake.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
 */
export async function connect(
  target: string | URL | Transport,
  options: ConnectOptions = {},
): Promise<Client> {
  requireKnown('The client', options, { ...BASE_OPTION_NAMES, ...OPTION_NAMES })
  const { fetch = unlimitedFetch, fallback = httpSse, cache = resultCache() } = options
  const connectionTarget =
    typeof target === 'string' || target instanceof URL
      ? cachedHttpTarget(target, options.versionCache)
      : (await loadOnDemand()).transportTarget(requireTransport(target), options.probeTimeoutMs)
  const loaded = needsInteraction(options) ? await loadOnDemand() : undefined
  return openClient({
    options: { ...options, fetch, fallback },
    target: connectionTarget,
    capabilities: { ...declaredCapabilities(options), ...loaded?.handledCapabilities(options) },
    compose(connection) {
      const interaction = interactionOnDemand(connection, options, loadOnDemand, loaded)
      const walk: WalkPages = (method, fetchPage, member) =>
        walkPages(method, fetchPage, member, options, (error) => connection.reportError(error))
      const client = new Client(connection, options, interaction)
      const cacheOption = cache && { cache: cache() }
      const { inputHandlers, changes } = interaction
      return { client, inputHandlers, changes, walkPages: walk, ...cacheOption }
    },
  })
}

/**
 * Creates a client that reconnects after transient errors, and whose state a user interface can
 * display. After the first successful connection, the client retries with backoff. If the first
 * attempt fails, the client retries only if there is no network: any other cause is usually a
 * mistake.
 *
 * The client does nothing until `open` is called.
 *
 * @example
 * ```ts
 * import { createReconnectingClient } from 'edgewise/client'
 *
 * const reconnecting = createReconnectingClient('https://example.com/mcp')
 * reconnecting.subscribe(() => console.log(reconnecting.getSnapshot().status))
 * reconnecting.open()
 * ```
 */
export function createReconnectingClient(
  target: ReconnectingTarget,
  options: ReconnectingOptions = {},
): ReconnectingClient {
  return new ReconnectingConnection(connect, target, options)
}

export type { Client }
export { loadIcon, selectIcon } from '../client/presentation/icons.ts'
export { formFields, type FormField, type FormValue } from '../client/presentation/form-fields.ts'
export { chooseModel } from '../client/presentation/model-hints.ts'
export { resultCache }
export type { Cache as ResultCache } from '../client/features.ts'
export type { ReconnectingClient } from '../connect/reconnecting-options.ts'
export { observeSignIn, type SignInObserver } from '../authorization/observe-sign-in.ts'
export { toolHints } from '../client/presentation/tool-hints.ts'
export { clientObserver } from '../client/observed-connection.ts'
export type { ClientObserver } from '../client/options.ts'
export type { Observation, Observer, Operation, Outcome } from '../protocol/observation.ts'
export { clientExtension } from '../client/client-extension.ts'
export type { ClientExtension, ClientMiddleware } from '../client/extension.ts'
export { middleware } from '../client/middleware.ts'
export { logRequests } from '../client/log-requests.ts'
export { retry } from '../client/retry.ts'
export { throttle } from '../client/throttle.ts'
export type { AuthProvider } from '../protocol/http-options.ts'
export type { ConnectOptions, Handlers, InputContext, VersionCache } from '../client/options.ts'
export type { RequestOptions } from '../client/request-options.ts'
export type { Receiver, Transport } from '../protocol/transport.ts'
export {
  isResourceNotFound,
  SdkError,
  ProtocolError,
  type SdkErrorCode,
} from '../protocol/errors.ts'
export type { Subscription } from '../client/features/subscription.ts'
export type { ConnectionState } from '../connect/reconnecting-options.ts'
