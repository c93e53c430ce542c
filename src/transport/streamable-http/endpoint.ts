/**
 * A handler at its path, and what every runtime does to listen there.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import type { IRequestStrict } from 'itty-router'
import { requireKnown } from '../../patterns/known-options.ts'
import { McpError } from '../../protocol/errors.ts'
import type { BaseServer } from '../../server/server.ts'
import { definitionOf } from '../../server/definition.ts'
import type { Caller } from '../../server/request/exchange.ts'
import { createGuard } from '../http/guard.ts'
import { createHandler, handlerOptionNames, type HandlerOptions } from './handler.ts'
import { statefulSessions } from './sessions/stateful.ts'

/** Where and how `serve` serves a server over HTTP, the same on Node, Deno and Bun. */
export interface ServeOptions extends HandlerOptions {
  /**
   * The TCP port; 0 lets the system choose a free one.
   *
   * @default 0
   */
  port?: number
  /**
   * The name or address to listen on. With a loopback address, which only this machine reaches,
   * `allowedHosts` is the loopback names by default.
   *
   * @default '127.0.0.1'
   */
  hostname?: string
  /**
   * The path of the endpoint; others are answered with 404.
   *
   * @default '/mcp'
   */
  path?: string
  /**
   * How the revisions up to 2025-11-25 have sessions. One process answers every request, so that they
   * are kept in memory, where `createHandler` has none unless told so.
   *
   * @default statefulSessions()
   */
  sessions?: Exclude<HandlerOptions['sessions'], undefined>
}

/** A server that listens. */
export interface HttpServer {
  /** The address of the endpoint. */
  readonly url: string
  readonly port: number
  /** Stops listening, ends streams and sessions, and resolves when all connections are closed. */
  close(): Promise<void>
  /** Closes, at the end of an `await using`. */
  [Symbol.asyncDispose](): Promise<void>
}

/** A handler at its path. */
export interface Endpoint {
  readonly port: number
  readonly hostname: string
  /**
   * Answers any request to the host. Rejects only when its URL is not valid, as some runtimes let
   * happen without a `Host` header: {@link badRequest} answers that.
   */
  readonly fetch: (request: Request, caller?: Caller) => Promise<Response>
  /** What to hand out once it is known which port is listened on. */
  readonly listening: (port: number, stop: () => Promise<void>) => HttpServer
}

/** How long responses that are under way may take when the server closes, in milliseconds. */
export const CLOSE_TIMEOUT_MS = 1_000

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

/**
 * Puts a handler at its path.
 *
 * @throws {TypeError} When the server was not made by `createServer`, or an option is unknown.
 */
export function createEndpoint(server: BaseServer, options: ServeOptions): Endpoint {
  const definition = definitionOf(server)
  const { optionHint = '' } = definition
  const names = { port: 1, hostname: 1, path: 1, ...handlerOptionNames(definition) }
  requireKnown(`Serving over HTTP${optionHint}`, options, names)
  const { port = 0, hostname = '127.0.0.1', path = '/mcp', ...handling } = options
  const authority = authorityOf(hostname)
  const local = LOOPBACK.includes(authority)
  const known: HandlerOptions = {
    sessions: statefulSessions(),
    ...(local && { allowedHosts: LOOPBACK }),
    ...handling,
  }
  const handler = createHandler(server, known)
  const guard = createGuard(server, known)
  const createRouter = async (): Promise<Pick<Endpoint, 'fetch'>> => {
    // Here, so that a program that serves over stdio does not load it
    const { IttyRouter } = await import('itty-router')
    const routes = IttyRouter<IRequestStrict, [Caller?], Response>()
    for (const each of [path, ...(known.auth?.paths ?? [])]) routes.all(routeOf(each), handler)
    // To pages as well: they would take silence for a lack of CORS
    routes.all('*', (request) => guard(request, notFound))
    // Not the router itself, which answers to every name and so to `then`
    return { fetch: routes.fetch }
  }
  let router: ReturnType<typeof createRouter> | undefined
  return {
    port,
    hostname,
    fetch: async (request, caller) => (await (router ??= createRouter())).fetch(request, caller),
    listening: (bound, stop) => {
      const close = async (): Promise<void> => {
        await handler.close()
        await stop()
      }
      const url = `http://${authority}:${bound}${path}`
      return { url, port: bound, close, [Symbol.asyncDispose]: close }
    },
  }
}

/** Answers a request whose URL is not valid. */
export function badRequest(): Response {
  return new Response(null, { status: 400 })
}

/** Explains that a port is taken; other errors are returned as they are. */
export function listenFault(error: unknown, hostname: string, port: number): unknown {
  if ((error as { code?: unknown } | undefined)?.code !== 'EADDRINUSE') return error
  const message = `Cannot listen on ${authorityOf(hostname)}:${port}: the port is taken`
  return new McpError('INVALID_USE', message)
}

/** The route of a path: to the router, some characters of it would be those of a regular expression. */
export function routeOf(path: string): string {
  return path.replace(/[+()[\]{}^$|?\\]/g, '\\$&')
}

/** A name or address as URLs have it. */
function authorityOf(hostname: string): string {
  return hostname.includes(':') ? `[${hostname}]` : hostname
}

function notFound(): Response {
  return new Response('Not found', { status: 404 })
}
