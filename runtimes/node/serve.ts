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
import { ignoreSuspensionRejections } from './suspensions.ts'

/**
 * Starts an HTTP server. Resolves when the server listens.
 *
 * @example
 * ```ts
 * import { serve } from 'edgewise/node'
 * import { createServer } from 'edgewise/server'
 *
 * const server = createServer({ name: 'travel', version: '1.0.0' })
 * server.tool('greet', {}, () => 'Hello')
 *
 * const { url } = await serve(server, { port: 8000 })
 * console.log(`Serving on ${url}`)
 * ```
 *
 * @throws {SdkError} `INVALID_USE` if the port is taken, or a secret is too short.
 * @throws {TypeError} If the server was not created by `createServer`, or has a tool with
 *   `task: 'required'` but was not extended with `tasks()`; or an option is unknown.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
export async function serve(server: Server, options: ServeOptions = {}): Promise<HttpServer> {
  const { port, hostname, fetch, toHttpServer } = createEndpoint(server, options)
  ignoreSuspensionRejections()
  // Loaded on demand, so that programs that serve over stdio do not load it
  const { createServer } = await import('node:http')
  const http = createServer(toNodeListener(fetch))
  return toHttpServer(await listen(http, port, hostname), async () => {
    const closed = new Promise((resolve) => http.close(resolve))
    http.closeIdleConnections()
    const timer = setTimeout(() => http.closeAllConnections(), CLOSE_TIMEOUT_MS)
    await closed
    clearTimeout(timer)
  })
}
