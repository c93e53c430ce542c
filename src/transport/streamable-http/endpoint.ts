/**
 * Serves a handler at a path. This is the part of `serve` that all runtimes share.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import type { IRequestStrict } from 'itty-router'
import { requireKnown } from '../../patterns/known-options.ts'
import { parseRequestUrl } from '../../patterns/origin.ts'
import { SdkError } from '../../protocol/errors.ts'
import type { PublicDocuments } from '../../server/public-documents.ts'
import type { BaseServer } from '../../server/server.ts'
import { definitionOf } from '../../server/definition-of.ts'
import { indexChanges } from '../../server/indexed-changes.ts'
import type { Caller } from '../../server/request/exchange.ts'
import { forwardedAddress } from '../http/forwarded-address.ts'
import { createGuard } from '../http/guard.ts'
import { createHandler, handlerOptionNames, type HandlerOptions } from './handler.ts'
import { statefulSessions } from './sessions/stateful.ts'

/** The options of `serve`, which are the same on Node, Deno and Bun. */
export interface ServeOptions extends HandlerOptions {
  /**
   * The TCP port. With 0, the system chooses a free port.
   *
   * @default 0
   */
  port?: number
  /**
   * The host name or address on which the server listens. If it is a loopback address, which only this machine can
   * reach, `allowedHosts` defaults to the loopback names.
   *
   * @default '127.0.0.1'
   */
  hostname?: string
  /**
   * The path of the endpoint. The response for all other paths is 404.
   *
   * @default '/mcp'
   */
  path?: string
  /**
   * The number of proxies in front of this process, such as load balancers. Each proxy must append the address of its
   * client to the header `X-Forwarded-For`, as most proxies do. Limits for callers without a principal then apply to the
   * address of the client, not to the address of a proxy. If the number is too high, clients can forge their address.
   *
   * @default 0
   */
  trustProxy?: number
  /**
   * Serves the server's card, and optionally a catalog: the result of `cardHandler` from `edgewise/cards`.
   * These documents are public, even if the server is protected.
   */
  card?: PublicDocuments
  /**
   * How sessions of the revisions up to 2025-11-25 work. By default, sessions are in memory, because one
   * process handles all requests. (`createHandler` has no sessions by default.)
   *
   * @default statefulSessions()
   */
  sessions?: Exclude<HandlerOptions['sessions'], undefined>
}

/**
 * A listening server.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
export interface HttpServer {
  /** The URL of the endpoint. */
  readonly url: string
  /** The TCP port on which the server listens. */
  readonly port: number
  /** Stops listening, ends streams and sessions, and resolves when all connections are closed. */
  close(): Promise<void>
  /** Closes the server at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void>
}

/** A handler at its path. */
export interface Endpoint {
  readonly port: number
  readonly hostname: string
  /** Handles a request to any path. Never rejects. */
  readonly fetch: (request: Request, caller?: Caller) => Promise<Response>
  /** Creates the public {@link HttpServer} when the port is known. */
  readonly toHttpServer: (port: number, stop: () => Promise<void>) => HttpServer
}

/** How long responses in progress may still take when the server closes, in milliseconds. */
export const CLOSE_TIMEOUT_MS = 1_000

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]']

/**
 * Creates an endpoint for a handler.
 *
 * @throws {TypeError} If the server was not created by `createServer`, or an option is unknown.
 * @throws {RangeError} If `trustProxy` is not a number of proxies.
 */
export function createEndpoint(server: BaseServer, options: ServeOptions): Endpoint {
  const definition = definitionOf(server)
  const { optionHint = '' } = definition
  // The values have no meaning
  const endpointOptionNames = { port: 1, hostname: 1, path: 1, card: 1, trustProxy: 1 }
  const optionNames = { ...endpointOptionNames, ...handlerOptionNames(definition) }
  requireKnown(`Serving over HTTP${optionHint}`, options, optionNames)
  const {
    port = 0,
    hostname = '127.0.0.1',
    path = '/mcp',
    card,
    trustProxy = 0,
    ...givenHandlerOptions
  } = options
  if (!Number.isSafeInteger(trustProxy) || trustProxy < 0) {
    throw new RangeError(`"trustProxy" must be a number of proxies, not "${trustProxy}"`)
  }
  const authority = authorityOf(hostname)
  const isLoopback = LOOPBACK_NAMES.includes(authority)
  const handlerOptions: HandlerOptions = {
    sessions: statefulSessions(),
    ...(isLoopback && { allowedHosts: LOOPBACK_NAMES }),
    ...givenHandlerOptions,
  }
  const { notify, report } = definition
  const changeSource = notify && indexChanges(notify, report)
  const handler = createHandler(server, handlerOptions, { changeSource })
  const guard = createGuard(server, handlerOptions)
  const createRouter = async (): Promise<Pick<Endpoint, 'fetch'>> => {
    // Imported dynamically, so that programs that only use stdio do not load it
    const { IttyRouter } = await import('itty-router')
    const routes = IttyRouter<IRequestStrict, [Caller?], Response>()
    if (card) for (const cardPath of card.paths) routes.all(routeOf(cardPath), card)
    for (const routePath of [path, ...(handlerOptions.auth?.paths ?? [])])
      routes.all(routeOf(routePath), handler)
    // `guard` adds CORS headers. Without them, pages could not read the response 404
    routes.all('*', (request) => guard(request, notFound))
    // The router itself must not be returned. It is a proxy with every property, including `then`, so that
    // `await` would treat it as a promise
    return { fetch: routes.fetch }
  }
  let router: ReturnType<typeof createRouter> | undefined
  return {
    port,
    hostname,
    fetch(request, hostCaller) {
      const caller = trustProxy > 0 ? addAddress(trustProxy, request, hostCaller) : hostCaller
      try {
        // Calls the handler without the router, because routing takes a quarter of the time of a call
        if (parseRequestUrl(request.url).pathname === path) return handler(request, caller)
      } catch {
        // Some runtimes permit an invalid URL when the `Host` header is missing
        return Promise.resolve(new Response(null, { status: 400 }))
      }
      return (router ??= createRouter()).then((routes) => routes.fetch(request, caller))
    },
    toHttpServer: (boundPort, stop) => {
      const close = async (): Promise<void> => {
        await handler.close()
        await stop()
      }
      const url = `http://${authority}:${boundPort}${path}`
      return { url, port: boundPort, close, [Symbol.asyncDispose]: close }
    },
  }
}

/** Returns the caller with the address of the client that is behind the trusted proxies. */
function addAddress(proxies: number, request: Request, caller: Caller = {}): Caller {
  return { ...caller, address: forwardedAddress(request, proxies) ?? caller.address }
}

/** Returns an error that explains that the port is in use. Returns other errors unchanged. */
export function listenFault(error: unknown, hostname: string, port: number): unknown {
  if ((error as { code?: unknown } | undefined)?.code !== 'EADDRINUSE') return error
  const message = `Cannot listen on ${authorityOf(hostname)}:${port}: the port is taken`
  return new SdkError('INVALID_USE', message)
}

/**
 * Whether the URL of a request has this path and no query. Runtimes check this before they route a
 * request, because routing takes a quarter of the time of a call.
 */
export function isAtPath({ url }: Request, path: string): boolean {
  // The path begins at the first slash after the authority. `https://` also has the right length for `http://`,
  // because it then skips only the first character of the authority
  return url.endsWith(path) && url.indexOf('/', 'https://'.length) === url.length - path.length
}

/** Escapes a path for the router, which would interpret some characters as a regular expression. */
export function routeOf(path: string): string {
  return path.replace(/[+()[\]{}^$|?\\]/g, '\\$&')
}

/** Formats a host name or address for URLs. */
function authorityOf(hostname: string): string {
  return hostname.includes(':') ? `[${hostname}]` : hostname
}

function notFound(): Response {
  return new Response('Not found', { status: 404 })
}
