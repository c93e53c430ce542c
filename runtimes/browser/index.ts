/**
 * MCP in a browser: the client, servers in pages and workers, the protocol's types and errors that
 * a page needs, and the page's part of signing in. It requires `fetch` and streams, which every
 * current browser has, and works under a strict Content-Security-Policy.
 *
 * @module
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
export { completeSignIn, popup, returnedFromSignIn } from './popup.ts'
export { indexedDbKeyPair, indexedDbTokenStore } from './indexed-db.ts'
export * from '../../src/presets/client.ts'
export * from '../../src/index.ts'
export { connect, createReconnectingClient } from './connect.ts'
export { pageFetch } from './page-fetch.ts'
export { FetchFault, fetchFaultOf, type Fetch } from './fetch-fault.ts'
export { openPort } from './open-port.ts'
export { acceptPorts, servePorts } from './accept-ports.ts'
export { windowTransport } from './window-transport.ts'
export { acceptBroadcasts, broadcastTransport } from './broadcast.ts'
export { messagePortTransport } from '../../src/transport/index.ts'
export { findModelContext } from './web-mcp/model-context.ts'
export { offerTools } from './web-mcp/offer-tools.ts'
export { pageTools } from './web-mcp/page-tools.ts'
export { polyfillModelContext } from './web-mcp/polyfill.ts'
export type { ModelContext } from './web-mcp/model-context.ts'
export type { OfferedTools } from './web-mcp/offer-tools.ts'
