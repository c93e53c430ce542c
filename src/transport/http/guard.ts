/**
 * What stands around every HTTP endpoint: the checks of where a request comes from and of who sent
 * it, and the only place where an error becomes a response.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning
 */
import { ProtocolError, toErrorObject } from '../../protocol/errors.ts'
import { singleValue } from '../../protocol/headers.ts'
import { errorResponse } from '../../protocol/jsonrpc.ts'
import type { Caller } from '../../server/request/exchange.ts'
import type { ServerDefinition } from '../../server/definition.ts'
import type { BaseServer } from '../../server/server.ts'
import { definitionOf } from '../../server/definition.ts'
import { checkOrigin } from './origin.ts'
import { allowOrigin, preflightResponse } from './cors.ts'
import type { Authenticator } from '../../server/auth.ts'
import type { BaseHandlerOptions } from '../streamable-http/options.ts'
import { jsonResponse, Refusal, refusalResponse, refuse } from './http-error.ts'

/** Where requests may come from. */
type Where = Pick<BaseHandlerOptions, 'allowedOrigins' | 'allowedHosts'>

/** Answers a request by `route` unless its origin, host or sender is refused; never rejects. */
export async function answerGuarded(
  server: ServerDefinition,
  options: Where & { readonly auth?: Authenticator | undefined },
  request: Request,
  given: Caller,
  route: (caller: Caller) => Response | Promise<Response>,
): Promise<Response> {
  const { auth } = options
  const sent = request.headers.get('origin')
  const origin = sent?.includes(', ') ? (singleValue(request.headers, 'origin') ?? sent) : sent
  // Who may read the answer: nobody, until the origin is known to be fine.
  let reader: string | null = null
  try {
    const metadata = auth?.handleMetadata(request)
    if (metadata) return metadata
    checkOrigin(request, origin, options)
    reader = origin
    if (request.method === 'OPTIONS') return allowOrigin(preflightResponse(request), reader)
    let caller: Caller = { request, ...given }
    if (auth) {
      const authenticated = await auth.authenticate(request, caller, server)
      if (authenticated instanceof Response) {
        // A copy, as what was fetched cannot be changed
        return allowOrigin(new Response(authenticated.body, authenticated), reader)
      }
      caller = authenticated
    }
    return allowOrigin(await route(caller), reader)
  } catch (error) {
    // What a host cannot do now, such as keep a session, is no fault of the request.
    const refusal = error instanceof ProtocolError ? new Refusal(503, error) : error
    let response: Response
    if (refusal instanceof Refusal) {
      const { status, error, options } = refusal
      const { code, message } = error
      const { reason } = options
      server.observe?.({ type: 'refusal', status, code, message, reason, origin })
      response = refusalResponse(refusal)
    } else {
      server.report(error)
      response = jsonResponse(errorResponse(undefined, toErrorObject(error)), 500)
    }
    return allowOrigin(response, reader)
  }
}

/** Answers a request in place of a handler. */
export type Guard = (
  request: Request,
  answer: () => Response | Promise<Response>,
) => Promise<Response>

/**
 * Makes what answers the requests to a host that its handler never sees, such as those for another
 * path: origins and hosts are checked as there, and pages can read why they are refused. They would
 * take an answer without CORS headers for a failure of the network. Nobody is asked for a token.
 *
 * @throws {TypeError} when the server was not made by `createServer`.
 */
export function createGuard(server: BaseServer, options: Where): Guard {
  const definition = definitionOf(server)
  const open = { ...options, auth: undefined }
  return (request, answer) => answerGuarded(definition, open, request, {}, answer)
}

/** Refuses a method of HTTP that the endpoint does not have. */
export function methodNotAllowed({ method }: Request, allow: string): Refusal {
  return refuse(405, `"${method}" is not allowed here`, { headers: { allow } })
}
