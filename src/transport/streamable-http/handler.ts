/**
 * A server as a function from request to response: the switch over HTTP methods.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import { Ending } from '../../patterns/ending.ts'
import type { Caller } from '../../server/exchange.ts'
import { createRounds } from '../../server/rounds.ts'
import { definitionOf } from '../../server/server.ts'
import type { Server, ServerDefinition } from '../../server/definition.ts'
import { readAccept, readVersion } from './request.ts'
import { forward, isForwarded } from './forward.ts'
import { answerGuarded, methodNotAllowed } from './guard.ts'
import type { Host } from './host.ts'
import { refuse, sessionNotFound } from './refusal.ts'
import type { KeptSession } from './kept-session.ts'
import type { HandlerOptions } from './options.ts'
import { post } from './post.ts'
import { findMembership } from './session-post.ts'

/** Serves MCP over HTTP. Route every method of one path to it. */
export interface Handler {
  /** Answers a request; never rejects. */
  (request: Request, caller?: Caller): Promise<Response>
  /** Ends every listener and session gracefully. */
  close(): Promise<void>
}

/**
 * Makes a handler of Streamable HTTP for every revision that the server speaks.
 *
 * @throws {TypeError} when the server was not made by `createServer`.
 * @throws {McpError} `INVALID_USE` when a secret is too short.
 */
export function createHandler(server: Server, options: HandlerOptions = {}): Handler {
  const definition = definitionOf(server)
  const ending = new Ending()
  const host: Host = {
    server: definition,
    options,
    ...sessionsOf(definition, options),
    rounds: createRounds(options),
    ending,
  }
  const handle = (request: Request, caller: Caller = {}): Promise<Response> => {
    return answerGuarded(definition, options, request, caller, (known) => {
      if (ending.over) throw refuse(503, 'The server is closed')
      return route(host, request, known)
    })
  }
  const close = async (): Promise<void> => {
    ending.end()
    await host.sessions?.close()
  }
  return Object.assign(handle, { close })
}

/** Which of the ways to have sessions it is. */
function sessionsOf(
  definition: ServerDefinition,
  options: HandlerOptions,
): Pick<Host, 'sessions' | 'sealed' | 'forward'> {
  const none = { sessions: undefined, sealed: undefined, forward: undefined }
  const { sessions } = options
  if (!sessions || !definition.revisions.some(({ era }) => era === 'legacy')) return none
  if (typeof sessions === 'function') return { ...none, forward: sessions }
  if ('seal' in sessions) return { ...none, sealed: sessions }
  return { ...none, sessions: sessions.start(definition, options) }
}

async function route(host: Host, request: Request, caller: Caller): Promise<Response> {
  const hasSessions = host.sessions !== undefined || host.forward !== undefined
  switch (request.method) {
    case 'POST':
      return post(host, request, caller)
    case 'GET':
      if (!hasSessions || host.options.jsonOnly) break
      if (!readAccept(request.headers).events) {
        throw refuse(406, 'The client must accept "text/event-stream"')
      }
      return inSession(host, request, caller, (session) => session.listen(request))
    case 'DELETE':
      if (!hasSessions) break
      return inSession(host, request, caller, async (session) => {
        await session.close()
        return new Response(null, { status: 200 })
      })
  }
  const allow = hasSessions ? 'GET, POST, DELETE, OPTIONS' : 'POST, OPTIONS'
  throw methodNotAllowed(request, allow)
}

/** Does what a request without a body asks of its session, wherever that is served. */
async function inSession(
  host: Host,
  request: Request,
  caller: Caller,
  act: (session: KeptSession) => Promise<Response>,
): Promise<Response> {
  const { headers } = request
  const version = readVersion(headers)
  if (isForwarded(host, headers, version)) return forward(host, request, caller)
  const { live } = await findMembership({ host, request, version, caller })
  if (!live) throw sessionNotFound()
  return act(live)
}
