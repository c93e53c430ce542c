/**
 * Serves over HTTP with `Deno.serve`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import { withTimeout } from '#internal/patterns'
import type { Server } from '../../src/presets/server-tiny.ts'
import {
  badRequest,
  CLOSE_TIMEOUT_MS,
  createEndpoint,
  listenFault,
  type ServeOptions,
} from '#internal/http'
import type { HttpServer } from '../../src/transport/index.ts'
import { allowSuspensions } from './suspensions.ts'

/**
 * Starts an HTTP server. Needs `--allow-net`, for that host and port at least. Deno 2.9 does not tell
 * of a client that leaves before anything was sent to it, if the body of its request came after the
 * head; its call then goes on.
 *
 * @throws {McpError} `INVALID_USE` when the port is taken.
 * @throws {TypeError} When the server was not made by `createServer`.
 */
export async function serve(server: Server, options: ServeOptions = {}): Promise<HttpServer> {
  const { port, hostname, fetch, listening } = createEndpoint(server, options)
  allowSuspensions()
  const closing = new AbortController()
  const open = new Set<Promise<unknown>>()
  const handle: Deno.ServeHandler = async (request, { completed, remoteAddr }) => {
    const gone = new AbortController()
    let answered = false
    const ended = completed.catch(() => gone.abort()).finally(() => open.delete(ended))
    open.add(ended)
    const left = (): void => {
      if (!answered) gone.abort()
    }
    const response = await fetch(withSignal(request, gone.signal, left), {
      address: 'hostname' in remoteAddr ? remoteAddr.hostname : undefined,
    }).catch(badRequest)
    answered = true
    return response
  }
  const listen = (): ReturnType<typeof Deno.serve> => {
    try {
      // What to print is the program's affair.
      return Deno.serve({ port, hostname, signal: closing.signal, onListen: () => {} }, handle)
    } catch (error) {
      throw listenFault(error, hostname, port)
    }
  }
  const http = listen()
  return listening(http.addr.port, async () => {
    // Deno either waits for everything or for nothing, and then cuts even what is just being sent.
    const all = (): Promise<unknown> => Promise.all(open)
    const isDone = await withTimeout(CLOSE_TIMEOUT_MS, all).then(
      () => true,
      () => false,
    )
    if (isDone) return http.shutdown()
    closing.abort()
    return http.finished
  })
}

/**
 * Gives a request a signal that aborts when the client leaves and only then. Deno's own one aborts
 * after complete responses too; as it prints a warning then, it is left alone until somebody looks.
 *
 * @param left Learns that Deno's own signal fired.
 */
function withSignal(request: Request, signal: AbortSignal, left: () => void): Request {
  let own: AbortSignal | undefined
  return Object.defineProperty(request, 'signal', {
    get() {
      if (!own) {
        own = Reflect.get<Request, 'signal'>(Request.prototype, 'signal', request)
        own.addEventListener('abort', left)
      }
      return signal
    },
  })
}
