/**
 * A server as a function from request to response: the switch over HTTP methods.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import { requireKnown, type OptionNames } from '../../patterns/known-options.ts'
import { Ending } from '../../patterns/ending.ts'
import { haveSessions } from '../../protocol/revisions.ts'
import type { BaseServer } from '../../server/server.ts'
import type { Caller } from '../../server/request/exchange.ts'
import { definitionOf } from '../../server/definition.ts'
import { createRounds } from '../../server/engine/multi-round-trip.ts'
import { answerGuarded, methodNotAllowed } from '../http/guard.ts'
import type { Host } from './incoming.ts'
import { BASE_HANDLER_OPTIONS, type HandlerOptions } from './options.ts'
import { post } from './post.ts'
import { closed } from '../http/http-error.ts'

/** Serves MCP over HTTP. Route every method of one path to it. */
export interface Handler {
  /** Answers a request; never rejects. */
  (request: Request, caller?: Caller): Promise<Response>
  /** Ends every listener and session gracefully. */
  close(): Promise<void>
}

/** The names of the options of a handler. */
export const HANDLER_OPTIONS: OptionNames<HandlerOptions> = {
  ...BASE_HANDLER_OPTIONS,
  ...{ askTimeoutMs: 1, secrets: 1, stateTtlMs: 1, maxStateBytes: 1, sessions: 1 },
  ...{ carry: 1, listen: 1, changes: 1, isBare: 1 },
}

/**
 * Makes a handler of Streamable HTTP for every revision that the server speaks.
 *
 * @throws {TypeError} when the server was not made by `createServer`.
 * @throws {McpError} `INVALID_USE` when a secret is too short.
 */
export function createHandler(server: BaseServer, options: HandlerOptions = {}): Handler {
  requireKnown('The handler', options, HANDLER_OPTIONS)
  const definition = definitionOf(server)
  const ending = new Ending()
  const { changes } = options
  const sessions = haveSessions(definition.revisions)
    ? (options.sessions || undefined)?.start(definition, options)
    : undefined
  const rounds = createRounds(options)
  const host: Host = { server: definition, options, sessions, rounds, ending, changes }
  const handle = (request: Request, caller: Caller = {}): Promise<Response> => {
    return answerGuarded(definition, options, request, caller, (known) => {
      if (ending.over) throw closed()
      if (request.method === 'POST') return post(host, request, known)
      if (sessions?.answer) return sessions.answer(request, known)
      throw methodNotAllowed(request, 'POST, OPTIONS')
    })
  }
  const close = async (): Promise<void> => {
    ending.end()
    await sessions?.close?.()
  }
  return Object.assign(handle, { close })
}
