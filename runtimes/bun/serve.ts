/**
 * Serves over HTTP with `Bun.serve`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import type { Server } from '../../src/presets/server-tiny.ts'
import { CLOSE_TIMEOUT_MS, createEndpoint, listenFault, type ServeOptions } from '#internal/http'
import type { HttpServer } from '../../src/transport/index.ts'
import { ignoreSuspensionRejections } from '../node/suspensions.ts'

/**
 * Starts an HTTP server. Resolves when the server listens.
 *
 * @example
 * ```ts
 * import { serve } from 'edgewise/bun'
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
  const handle = (request: Request, http: Pick<Bun.Server<unknown>, 'requestIP'>) =>
    fetch(request, {
      request,
      // A getter, because few calls need the address, and reading it takes a tenth of the time of a call
      get address() {
        return http.requestIP(request)?.address
      },
    })
  const listen = (): ReturnType<typeof Bun.serve> => {
    try {
      // There is no idle timeout, because a stream may be silent for a long time
      return Bun.serve({ port, hostname, idleTimeout: 0, fetch: handle })
    } catch (error) {
      throw listenFault(error, hostname, port)
    }
  }
  const http = listen()
  return toHttpServer(http.port ?? port, async () => {
    // With `true`, Bun also closes the connections that are still active
    const timer = setTimeout(() => void http.stop(true), CLOSE_TIMEOUT_MS)
    await http.stop()
    clearTimeout(timer)
  })
}
