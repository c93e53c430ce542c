/**
 * A server as a function from HTTP request to response. Checks the origin, authenticates, and handles the HTTP methods.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import { ShutdownSignal } from '../../patterns/shutdown-signal.ts'
import { requireKnown, type OptionNames } from '../../patterns/known-options.ts'
import { haveSessions } from '../../protocol/revisions.ts'
import type { ServerDefinition } from '../../server/definition.ts'
import { definitionOf } from '../../server/definition-of.ts'
import type { Caller } from '../../server/request/exchange.ts'
import type { InputOptions } from '../../server/request/ask-mode.ts'
import type { BaseServer } from '../../server/server.ts'
import { RequestChecks } from '../http/guard.ts'
import { invalidRequest, methodNotAllowed } from '../http/http-error.ts'
import { IncomingRequest, type HttpEndpoint } from './incoming.ts'
import type { EndpointOptions, HandlerHooks } from './options.ts'
import { post } from './post.ts'
import type { SessionProvider } from './sessions/manager.ts'
import { withoutSessions } from './sessions/none.ts'

/**
 * Serves MCP over HTTP. Route all methods of one path to the handler.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
export interface Handler {
  /** Handles a request. Never rejects. */
  (request: Request, caller?: Caller): Promise<Response>
  /** Ends all listeners and sessions gracefully. */
  close(): Promise<void>
}

/** Options of {@link createHandler}. */
export interface HandlerOptions extends EndpointOptions {
  /**
   * How sessions of the revisions up to 2025-11-25 work.
   *
   * - `statefulSessions()` stores them, in memory or elsewhere. It is the default of `serve`.
   * - `sealedSessions()` stores nothing, but encrypts the negotiated parameters into the session id.
   * - `false` provides no sessions. It is the default, because the next request may reach another process.
   *
   * With `statefulSessions`, the server can send any message to clients of these revisions at any time. With the other
   * values, it can only send notifications, and only while it handles a request. With `false`, handlers also do not know
   * the client's name and capabilities.
   *
   * @default false
   */
  sessions?: SessionProvider | false
}

/**
 * The names of a handler's options, including the options for input requests that the server supports. The values
 * have no meaning.
 */
export function handlerOptionNames({ input }: ServerDefinition): object {
  return {
    allowedOrigins: 1,
    allowedHosts: 1,
    auth: 1,
    maxBodyBytes: 1,
    jsonOnly: 1,
    keepAliveMs: 1,
    sessions: 1,
    ...input.options,
  } satisfies Omit<OptionNames<HandlerOptions>, keyof InputOptions>
}

/**
 * Creates a Streamable HTTP handler for all revisions that the server supports.
 *
 * @example
 * ```ts
 * import { createHandler, createServer } from 'edgewise/server'
 *
 * const server = createServer({ name: 'travel', version: '1.0.0' })
 * server.tool('greet', {}, () => 'Hello')
 *
 * const handle = createHandler(server)
 * export default { fetch: (request: Request) => handle(request) }
 * ```
 *
 * @param hooks Only for the platforms in this package.
 * @throws {TypeError} If the server was not created by `createServer`, or has a tool with
 *   `task: 'required'` but was not extended with `tasks()`; or an option is unknown.
 * @throws {SdkError} `INVALID_USE` if a secret is too short.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
export function createHandler(
  server: BaseServer,
  options: HandlerOptions = {},
  hooks: HandlerHooks = {},
): Handler {
  const definition = definitionOf(server)
  const { optionHint = '' } = definition
  requireKnown(`The handler${optionHint}`, options, handlerOptionNames(definition))
  const { auth } = options
  const shutdown = new ShutdownSignal()
  const askMode = definition.input.configure(options)
  const endpoint: HttpEndpoint = { server: definition, options, hooks, askMode, shutdown }
  const createSessions = (haveSessions(definition.revisions) && options.sessions) || withoutSessions
  const sessions = createSessions(endpoint)

  async function handle(request: Request, hostCaller?: Caller): Promise<Response> {
    const checks = new RequestChecks(definition, options, request)
    let incoming: IncomingRequest | undefined
    try {
      const caller = hostCaller?.request ? hostCaller : { ...hostCaller, request }
      const callerOrResponse =
        checks.check() ??
        (auth
          ? await (definition.observe?.authenticate(auth, request, caller, definition) ??
              auth.authenticate(request, caller, definition))
          : caller)
      // A copy, because the headers of a response from `fetch` are immutable
      if (callerOrResponse instanceof Response)
        return checks.respond(new Response(callerOrResponse.body, callerOrResponse))
      if (shutdown.ended) throw invalidRequest(503, 'The server is closed')
      const { method } = request
      const opensStream = method === 'GET' && !options.jsonOnly
      const isPost = method === 'POST'
      // `allow` can be searched as text, because no method's name contains the name of another method
      const isAllowed =
        (isPost || opensStream || method === 'DELETE') && sessions.allow.includes(method)
      if (!isAllowed) {
        throw methodNotAllowed(request, sessions.allow)
      }
      incoming = new IncomingRequest(endpoint, request, callerOrResponse)
      const result = isPost ? await post(incoming, sessions) : await sessions.resolve(incoming)
      return checks.respond(
        result instanceof Response
          ? result
          : await (opensStream ? result.listen(incoming) : result.end()),
      )
    } catch (error) {
      return checks.respondError(error, incoming)
    }
  }

  async function close(): Promise<void> {
    shutdown.end()
    await sessions.close()
  }

  return Object.assign(handle, { close })
}
