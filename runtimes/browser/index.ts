/**
 * MCP in a browser: the client, servers in pages and workers, the protocol's types and errors that
 * a page works with, and what signing in needs of a page. It needs `fetch` and streams, which every
 * current browser has, and works under a strict Content-Security-Policy.
 *
 * @module
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
export { completeSignIn, popup, returnedFromSignIn, type PopupOptions } from './popup.ts'
export { indexedDbKeyPair, indexedDbTokens } from './indexed-db.ts'
export * from '../../src/presets/client.ts'
export * from '../../src/index.ts'
export { connect, createReconnectingClient } from './connect.ts'
export { pageFetch, type PageFetchOptions } from './page-fetch.ts'
export { FetchFault, fetchFaultOf, type Fetch, type FetchFaultKind } from './fetch-fault.ts'
export { openPort, type OpenPortOptions, type PortTarget } from './open-port.ts'
export {
  acceptPorts,
  servePorts,
  type AcceptOptions,
  type IncomingPort,
  type ServePortsOptions,
} from './accept-ports.ts'
export { windowTransport, type WindowTransportOptions } from './window-transport.ts'
export { acceptBroadcasts, broadcastTransport, type BroadcastOptions } from './broadcast.ts'
export {
  messagePortTransport,
  type MessagePortOptions,
  type PortLike,
} from '../../src/transport/index.ts'
export {
  findModelContext,
  type FindModelContextOptions,
  type ModelContext,
  type ModelContextAnnotations,
  type ModelContextTool,
  type RegisteredTool,
} from './web-mcp/model-context.ts'
export { offerTools, type OfferedTools, type OfferToolsOptions } from './web-mcp/offer-tools.ts'
export { pageTools, type PageToolsOptions } from './web-mcp/page-tools.ts'
export { polyfillModelContext, type PolyfillOptions } from './web-mcp/polyfill.ts'
