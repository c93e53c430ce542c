/**
 * Serves over HTTP with `Deno.serve`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import { withTimeout } from '#internal/patterns'
import type { Server } from '../../src/presets/server-tiny.ts'
import { CLOSE_TIMEOUT_MS, createEndpoint, listenFault, type ServeOptions } from '#internal/http'
import type { HttpServer } from '../../src/transport/index.ts'
import { ignoreSuspensionRejections } from './suspensions.ts'

/**
 * Starts an HTTP server. Resolves when the server listens. This process needs `--allow-net` for the host
 * and port.
 *
 * If the body of a request arrives after its head, Deno 2.9 does not report that the client disconnects before
 * the response is sent. The call then continues.
 *
 * @example
 * ```ts
 * import { serve } from 'edgewise/deno'
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
  const closing = new AbortController()
  const openRequests = new Set<Promise<unknown>>()
  const handle: Deno.ServeHandler = async (request, { completed, remoteAddr }) => {
    const connection = replaceSignal(request)
    const completion: Promise<unknown> = completed.then(
      () => openRequests.delete(completion),
      () => {
        connection.disconnect()
        openRequests.delete(completion)
      },
    )
    openRequests.add(completion)
    const address = 'hostname' in remoteAddr ? remoteAddr.hostname : undefined
    const response = await fetch(request, { request, address })
    connection.isAnswered = true
    return response
  }
  const listen = (): ReturnType<typeof Deno.serve> => {
    try {
      // With an empty `onListen`, Deno does not print the address
      return Deno.serve({ port, hostname, signal: closing.signal, onListen: () => {} }, handle)
    } catch (error) {
      throw listenFault(error, hostname, port)
    }
  }
  const http = listen()
  return toHttpServer(http.addr.port, async () => {
    // Deno itself can only wait for all requests without a time limit, or cut off all responses
    const waitForAll = (): Promise<unknown> => Promise.all(openRequests)
    const isDone = await withTimeout(CLOSE_TIMEOUT_MS, waitForAll).then(
      () => true,
      () => false,
    )
    if (isDone) return http.shutdown()
    closing.abort()
    return http.finished
  })
}

/**
 * The connection of a request. Its signal aborts only if the client disconnects. Deno's own signal also
 * aborts after a complete response, and Deno then prints a warning. Deno's signal is therefore not
 * created until the handler reads `signal`.
 */
class Connection {
  readonly #request: Request
  #controller: AbortController | undefined
  #disconnected = false
  /** Whether the handler has returned. Afterwards, the signal of Deno also aborts for other reasons. */
  isAnswered = false

  constructor(request: Request) {
    this.#request = request
  }

  get signal(): AbortSignal {
    this.#controller ??= this.#createController()
    return this.#controller.signal
  }

  disconnect(): void {
    this.#disconnected = true
    this.#controller?.abort()
  }

  /** Creates the controller of the connection's signal. From now on, this signal follows the signal of Deno. */
  #createController(): AbortController {
    const controller = new AbortController()
    // Uses the getter of the prototype, because `replaceSignal` has replaced the property of the request
    const denoSignal = Reflect.get<Request, 'signal'>(Request.prototype, 'signal', this.#request)
    denoSignal.addEventListener('abort', () => {
      if (!this.isAnswered) this.disconnect()
    })
    if (this.#disconnected) controller.abort()
    return controller
  }
}

const CONNECTION = Symbol('connection')

/**
 * The definition of `signal` that all requests share. If each request had its own definition, V8 would create a hidden
 * class for each request.
 */
const SIGNAL: PropertyDescriptor & ThisType<Request & { readonly [CONNECTION]: Connection }> = {
  get() {
    return this[CONNECTION].signal
  },
}

/**
 * Creates the connection of a request, and replaces the request's signal with the signal of the connection.
 */
function replaceSignal(request: Request & { [CONNECTION]?: Connection }): Connection {
  const connection = new Connection(request)
  // In the opposite order, these two lines take V8 twice as long
  Object.defineProperty(request, 'signal', SIGNAL)
  request[CONNECTION] = connection
  return connection
}
