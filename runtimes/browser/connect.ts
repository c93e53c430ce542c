/**
 * Connecting from a page.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import type { ReconnectingOptions, ReconnectingTarget } from '#internal/client'
import {
  connect as connectAnywhere,
  createReconnectingClient as createReconnectingClientAnywhere,
  type Client,
  type ConnectOptions,
  type ReconnectingClient,
  type Transport,
} from '../../src/presets/client.ts'
import { fetchFaultOf } from './fetch-fault.ts'
import { pageFetch } from './page-fetch.ts'
import { resolvePath } from './page-url.ts'

/**
 * Connects to a server, like `connect` of `edgewise/client`, but with {@link pageFetch}. Errors therefore say
 * why a request failed, and streams that only listen are closed while the page cannot listen. A path, such
 * as `/mcp`, is relative to the page's origin.
 *
 * @example
 * ```ts
 * import { connect } from 'edgewise/browser'
 *
 * await using client = await connect('/mcp')
 * const { content } = await client.callTool('add', { a: 1, b: 2 })
 * ```
 *
 * @throws {SdkError} `NETWORK` with a `FetchFault` as its cause, and every error of `connect`.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
export function connect(
  target: string | URL | Transport,
  options: ConnectOptions = {},
): Promise<Client> {
  return connectAnywhere(resolvePath(target), {
    ...options,
    fetch: pageFetch({ fetch: options.fetch }),
  })
}

/**
 * Creates a client that reconnects after failures, like `createReconnectingClient` of
 * `edgewise/client`, but with {@link pageFetch}. The client checks the connection when the page is shown
 * again or the device is back online, and waits while the device is offline. A path is relative to the
 * page's origin.
 *
 * @example
 * ```ts
 * import { createReconnectingClient } from 'edgewise/browser'
 *
 * const reconnecting = createReconnectingClient('/mcp')
 * reconnecting.subscribe(() => {
 *   document.title = reconnecting.getSnapshot().status
 * })
 * reconnecting.open()
 * ```
 */
export function createReconnectingClient(
  target: ReconnectingTarget,
  options: ReconnectingOptions = {},
): ReconnectingClient {
  const fetch = pageFetch({ fetch: options.fetch })
  return createReconnectingClientAnywhere(resolvePath(target), {
    subscribeToWake,
    isOffline,
    ...options,
    fetch,
  })
}

function isOffline(error: Error): boolean {
  return fetchFaultOf(error)?.kind === 'offline'
}

/** Calls `check` whenever the page is shown again or the device is back online. */
function subscribeToWake(check: () => void): () => void {
  if (typeof globalThis.addEventListener !== 'function') return () => {}
  const onShow = ({ persisted }: PageTransitionEvent): void => {
    if (persisted) check()
  }
  addEventListener('online', check)
  addEventListener('pageshow', onShow)
  globalThis.document?.addEventListener('resume', check)
  return () => {
    removeEventListener('online', check)
    removeEventListener('pageshow', onShow)
    globalThis.document?.removeEventListener('resume', check)
  }
}
