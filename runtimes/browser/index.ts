/**
 * MCP in a browser: the client, and the protocol's types and errors that a page works with. It
 * needs `fetch` and streams, which every current browser has, and works under a strict
 * Content-Security-Policy.
 *
 * @module
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
export * from '../../src/client/index.ts'
export * from '../../src/index.ts'
