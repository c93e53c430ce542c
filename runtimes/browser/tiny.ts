/**
 * The smallest client in a browser, the protocol's types and errors. The rest is in
 * `edgewise/browser`, under the same names.
 *
 * @module
 */
import {
  connect as connectAnywhere,
  type Client,
  type ConnectOptions,
} from '../../src/presets/client-tiny.ts'
import { explainedFetch } from './fetch-fault.ts'
import { resolvePath } from './page-url.ts'

export * from '../../src/presets/client-tiny.ts'
export * from '../../src/index.ts'
export { FetchFault, fetchFaultOf, type Fetch } from './fetch-fault.ts'

/**
 * Connects to a server, as `connect` of `edgewise/client/tiny` does, with failures that say what
 * stood in the way. A path, such as `/mcp`, is one of the page's own origin.
 *
 * @throws {McpError} `NETWORK` with a `FetchFault` as its cause, and all that `connect` throws.
 */
export function connect(target: string | URL, options: ConnectOptions = {}): Promise<Client> {
  return connectAnywhere(resolvePath(target), { ...options, fetch: explainedFetch(options.fetch) })
}
