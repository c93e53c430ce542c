/**
 * Edgewise on Deno: servers over stdio and HTTP, and a client for servers that it starts.
 *
 * @module
 */
export { serve } from './serve.ts'
export { serveStdio } from './serve-stdio.ts'
export { stdioClient } from './stdio-client.ts'
export type {
  ChildTransport,
  HttpServer,
  ListenOptions,
  ProgramToStart,
  ServeStdioOptions,
  StdioClientOptions,
} from '../../src/transport/index.ts'
