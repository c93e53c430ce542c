/**
 * Connecting from a page.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import {
  connect as connectAnywhere,
  type Client,
  type ConnectOptions,
  type Transport,
} from '../../src/client/index.ts'
import { pageFetch } from './page-fetch.ts'

/**
 * Connects to a server, as `connect` of `edgewise/client` does, with {@link pageFetch}: failures
 * say what stood in the way, and listening streams follow the life of the page.
 *
 * @throws {McpError} `NETWORK` with a `FetchFault` as its cause, and all that `connect` throws.
 */
export function connect(
  target: string | URL | Transport,
  options: ConnectOptions = {},
): Promise<Client> {
  return connectAnywhere(target, { ...options, fetch: pageFetch({ fetch: options.fetch }) })
}
