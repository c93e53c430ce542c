/**
 * What stands around every HTTP endpoint: the check of where a request comes from, and the only
 * place where an error becomes a response.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning
 */
import { INTERNAL_ERROR, ProtocolError } from '../../protocol/errors.ts'
import type { ServerDefinition } from '../../server/server.ts'
import { checkOrigin } from './checks.ts'
import { allowOrigin } from './cors.ts'
import type { HandlerOptions } from './options.ts'
import { Refusal, refusalResponse, refuse } from './refusal.ts'

/** Answers a request by `route` unless its origin or host is refused; never rejects. */
export async function answerGuarded(
  server: ServerDefinition,
  options: HandlerOptions,
  request: Request,
  route: () => Response | Promise<Response>,
): Promise<Response> {
  const origin = request.headers.get('origin')
  try {
    checkOrigin(request, options)
    return allowOrigin(await route(), origin)
  } catch (error) {
    if (error instanceof Refusal) {
      const {
        status,
        error: { code, message },
      } = error
      server.observe?.({ type: 'refusal', status, code, message, origin })
      const response = refusalResponse(error)
      return error.status === 403 ? response : allowOrigin(response, origin)
    }
    server.report(error)
    const internal = new ProtocolError(INTERNAL_ERROR, 'Internal error')
    return allowOrigin(refusalResponse(new Refusal(500, internal)), origin)
  }
}

/** Refuses a method of HTTP that the endpoint does not have. */
export function methodNotAllowed({ method }: Request, allow: string): Refusal {
  return refuse(405, `"${method}" is not allowed here`, { headers: { allow } })
}
