/**
 * The smallest client for browsers, with the protocol's types and errors. `edgewise/browser` exports the same
 * names, and everything else for browsers.
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
 * Connects to a server, like `connect` of `edgewise/client/tiny`, with errors that say why a
 * request failed. A path, such as `/mcp`, is relative to the page's origin.
 *
 * @example
 * ```ts
 * import { connect } from 'edgewise/browser/tiny'
 *
 * await using client = await connect('/mcp')
 * const { content } = await client.callTool('add', { a: 1, b: 2 })
 * ```
 *
 * @throws {SdkError} `NETWORK` with a `FetchFault` as its cause, and every error of `connect`.
 */
export function connect(target: string | URL, options: ConnectOptions = {}): Promise<Client> {
  return connectAnywhere(resolvePath(target), { ...options, fetch: explainedFetch(options.fetch) })
}
