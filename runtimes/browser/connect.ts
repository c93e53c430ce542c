/**
 * Connecting from a page.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import {
  connect as connectAnywhere,
  connectLean as connectLeanAnywhere,
  createConnection as createConnectionAnywhere,
  type Client,
  type ConnectOptions,
  type LeanClient,
  type LeanOptions,
  type LiveConnection,
  type LiveOptions,
  type LiveTarget,
  type Transport,
} from '../../src/presets/client.ts'
import { explainedFetch, fetchFaultOf } from './fetch-fault.ts'
import { pageFetch } from './page-fetch.ts'

/**
 * Connects to a server, as `connect` of `edgewise/client` does, with {@link pageFetch}: failures
 * say what stood in the way, and listening streams follow the life of the page. A path, such as
 * `/mcp`, is one of the page's own origin.
 *
 * @throws {McpError} `NETWORK` with a `FetchFault` as its cause, and all that `connect` throws.
 */
export function connect(
  target: string | URL | Transport,
  options: ConnectOptions = {},
): Promise<Client> {
  return connectAnywhere(inPage(target), { ...options, fetch: pageFetch({ fetch: options.fetch }) })
}

/**
 * Connects to a server with a smaller client, which only calls, as `connectLean` of
 * `edgewise/client` does: failures say what stood in the way. A path is one of the page's own origin.
 *
 * @throws {McpError} `NETWORK` with a `FetchFault` as its cause, and all that `connect` throws.
 */
export function connectLean(
  target: string | URL | Transport,
  options: LeanOptions = {},
): Promise<LeanClient> {
  return connectLeanAnywhere(inPage(target), { ...options, fetch: explainedFetch(options.fetch) })
}

/**
 * Makes a connection that tells what it is doing, as `createConnection` of `edgewise/client` does,
 * with {@link pageFetch}; it looks after the server when the page is shown again or the device is
 * back online, and waits for as long as the device is offline. A path is one of the page's own origin.
 */
export function createConnection(target: LiveTarget, options: LiveOptions = {}): LiveConnection {
  const fetch = pageFetch({ fetch: options.fetch })
  return createConnectionAnywhere(inPage(target), { onWake, isOffline, ...options, fetch })
}

/** A path as a URL, where there is a page or a worker; those of a blob have the origin of their page. */
function inPage<Target>(target: Target): Target | string {
  const isPath = typeof target === 'string' && target.startsWith('/')
  return isPath ? `${globalThis.location?.origin ?? ''}${target}` : target
}

function isOffline(error: Error): boolean {
  return fetchFaultOf(error)?.kind === 'offline'
}

function onWake(check: () => void): () => void {
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
