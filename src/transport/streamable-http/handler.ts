/**
 * A server as a function from request to response: who may call, and what each HTTP method does.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import { Ending } from '../../patterns/ending.ts'
import { requireKnown, type OptionNames } from '../../patterns/known-options.ts'
import { haveSessions } from '../../protocol/revisions.ts'
import { definitionOf } from '../../server/definition.ts'
import type { Caller } from '../../server/request/exchange.ts'
import type { BaseServer } from '../../server/server.ts'
import { RequestGuard } from '../http/guard.ts'
import { closed, methodNotAllowed } from '../http/http-error.ts'
import { IncomingRequest, type HttpEndpoint } from './incoming.ts'
import type { EndpointOptions, HandlerHooks } from './options.ts'
import { post } from './post.ts'
import type { SessionProvider } from './sessions/manager.ts'
import { withoutSessions } from './sessions/none.ts'

/** Serves MCP over HTTP. Route every method of one path to it. */
export interface Handler {
  /** Answers a request; never rejects. */
  (request: Request, caller?: Caller): Promise<Response>
  /** Ends every listener and session gracefully. */
  close(): Promise<void>
}

/** How a server is served over HTTP. */
export interface HandlerOptions extends Omit<EndpointOptions, keyof HandlerHooks> {
  /**
   * How the revisions up to 2025-11-25 have sessions. `statefulSessions()` keeps them, in memory or
   * in a store; what `serve` and its like do. `sealedSessions()` keeps none, and lets their ids tell what
   * was negotiated. Without any, which is the default, as a handler cannot know whether the next
   * request reaches it, these revisions are served request by request, and handlers know nothing of
   * the client. Without `statefulSessions` the
   * server cannot ask or tell a client of these revisions anything outside its answers.
   */
  sessions?: SessionProvider | false
}

/** The names of the options of a handler. */
export const HANDLER_OPTIONS: OptionNames<HandlerOptions & HandlerHooks> = {
  ...{ allowedOrigins: 1, allowedHosts: 1, auth: 1, maxBodyBytes: 1, jsonOnly: 1, keepAliveMs: 1 },
  ...{ sessions: 1, askTimeoutMs: 1, secrets: 1, stateTtlMs: 1, maxStateBytes: 1 },
  ...{ openStream: 1, onStandaloneStream: 1, changeSource: 1, isBare: 1 },
}

/**
 * Makes a handler of Streamable HTTP for every revision that the server speaks.
 *
 * @throws {TypeError} if the server was not made by a `createServer`, or an option is unknown.
 * @throws {McpError} `INVALID_USE` if a secret is too short.
 */
export function createHandler(
  server: BaseServer,
  options: HandlerOptions & HandlerHooks = {},
): Handler {
  requireKnown('The handler', options, HANDLER_OPTIONS)
  const definition = definitionOf(server)
  const { auth } = options
  const ending = new Ending()
  const input = definition.features.input.configure(options)
  const endpoint: HttpEndpoint = { server: definition, options, input, ending }
  const provide = (haveSessions(definition.revisions) && options.sessions) || withoutSessions
  const sessions = provide(endpoint)

  async function handle(request: Request, given: Caller = {}): Promise<Response> {
    const guard = new RequestGuard(definition, options, request)
    try {
      const caller =
        guard.check() ?? (auth ? await guard.authenticate(auth, given) : { request, ...given })
      if (caller instanceof Response) return guard.respond(caller)
      if (ending.over) throw closed()
      const { method } = request
      const incoming = new IncomingRequest(endpoint, request, caller)
      if (method === 'POST') return guard.respond(await post(incoming, sessions))
      if (!(method === 'GET' || method === 'DELETE') || !sessions.allow.includes(method)) {
        throw methodNotAllowed(request, sessions.allow)
      }
      const session = await sessions.resolve(incoming)
      if (session instanceof Response) return guard.respond(session)
      return guard.respond(await (method === 'GET' ? session.listen(incoming) : session.end()))
    } catch (error) {
      return guard.respondError(error)
    }
  }

  async function close(): Promise<void> {
    ending.end()
    await sessions.close()
  }

  return Object.assign(handle, { close })
}
