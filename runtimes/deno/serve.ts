/**
 * Serves over HTTP with `Deno.serve`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import type { Server } from '../../src/server/index.ts'
import { createEndpoint, type HttpServer, type ListenOptions } from '../../src/transport/index.ts'

/**
 * Starts an HTTP server. Needs `--allow-net`, for that host and port at least.
 *
 * @throws {TypeError} When the server was not made by `createServer`.
 */
export function serve(server: Server, options: ListenOptions = {}): HttpServer {
  const { port, hostname, answer, listening } = createEndpoint(server, options)
  // What to print is the program's affair.
  const http = Deno.serve({ port, hostname, onListen: () => {} }, answer)
  return listening(http.addr.port, () => http.shutdown())
}
