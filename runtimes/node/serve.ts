/**
 * Serves over HTTP with `node:http`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import type { Server } from '../../src/presets/server-tiny.ts'
import { CLOSE_TIMEOUT_MS, createEndpoint, type ServeOptions } from '#internal/http'
import type { HttpServer } from '../../src/transport/index.ts'
import { listen } from './listen.ts'
import { toNodeListener } from './listener.ts'
import { allowSuspensions } from './suspensions.ts'

/**
 * Starts an HTTP server; resolves when it listens, and rejects when it cannot.
 *
 * @throws {McpError} `INVALID_USE` when the port is taken.
 * @throws {TypeError} When the server was not made by `createServer`.
 */
export async function serve(server: Server, options: ServeOptions = {}): Promise<HttpServer> {
  const { port, hostname, fetch, listening } = createEndpoint(server, options)
  allowSuspensions()
  // Here, so that a program that serves over stdio does not load it.
  const { createServer } = await import('node:http')
  const http = createServer(toNodeListener(fetch))
  return listening(await listen(http, port, hostname), async () => {
    const closed = new Promise((resolve) => http.close(resolve))
    http.closeIdleConnections()
    const timer = setTimeout(() => http.closeAllConnections(), CLOSE_TIMEOUT_MS)
    await closed
    clearTimeout(timer)
  })
}
