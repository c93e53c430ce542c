/**
 * Edgewise on Node: servers over stdio and HTTP, clients that start a server, and sign-in with the user's
 * browser.
 *
 * @module
 */
export { toNodeListener } from './listener.ts'
export { serve } from './serve.ts'
export { serveStdio } from './serve-stdio.ts'
export { stdioClient } from './stdio-client.ts'
export { fileTokenStore } from './file-tokens.ts'
export { loopback } from './loopback.ts'
export { publicAddresses } from './public-addresses.ts'
export { webhookFetch } from './webhook-fetch.ts'
export type { HttpServer } from '../../src/transport/index.ts'
export type { ChildTransport } from '#internal/stdio'
