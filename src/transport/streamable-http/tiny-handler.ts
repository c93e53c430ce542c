/**
 * A server as a function from request to response that only answers: each request stands for itself,
 * in every revision.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import { requireKnown } from '../../patterns/known-options.ts'
import { Ending } from '../../patterns/ending.ts'
import type { BaseServer } from '../../server/server.ts'
import type { Caller } from '../../server/request/exchange.ts'
import { definitionOf } from '../../server/definition.ts'
import { answerGuarded, methodNotAllowed } from '../http/guard.ts'
import type { Handler } from './handler.ts'
import { BASE_HANDLER_OPTIONS, type BaseHandlerOptions } from './options.ts'
import { post } from './post.ts'
import { closed } from '../http/http-error.ts'

/**
 * Makes a smaller handler, which answers POST requests one by one, in every revision that the server
 * speaks: clients of revisions with sessions are served without one. Nothing that keeps sessions,
 * asks clients or tells them of changes is loaded.
 *
 * @throws {TypeError} when the server was not made by `createServer` or `createServer`.
 */
export function createHandler(server: BaseServer, options: BaseHandlerOptions = {}): Handler {
  requireKnown('The handler', options, BASE_HANDLER_OPTIONS)
  const definition = definitionOf(server)
  const ending = new Ending()
  const host = { server: definition, options, ending }
  const handle = (request: Request, caller: Caller = {}): Promise<Response> =>
    answerGuarded(definition, options, request, caller, (known) => {
      if (ending.over) throw closed()
      if (request.method === 'POST') return post(host, request, known)
      throw methodNotAllowed(request, 'POST, OPTIONS')
    })
  const close = async (): Promise<void> => ending.end()
  return Object.assign(handle, { close })
}
