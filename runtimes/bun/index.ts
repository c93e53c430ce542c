/**
 * Edgewise on Bun: servers over stdio and HTTP, a client that starts servers as child processes, and
 * sign-in through the user's browser.
 *
 * @module
 */
export { serve } from './serve.ts'
export { serveStdio } from './serve-stdio.ts'
export { stdioClient } from './stdio-client.ts'
export { fileTokenStore } from '../node/file-tokens.ts'
export { loopback } from '../node/loopback.ts'
export { publicAddresses } from '../node/public-addresses.ts'
export { webhookFetch } from '../node/webhook-fetch.ts'
export type { HttpServer } from '../../src/transport/index.ts'
export type { ChildTransport } from '#internal/stdio'
