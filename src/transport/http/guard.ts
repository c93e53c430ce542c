/**
 * The checks around every HTTP endpoint: where a request comes from, which pages may read its
 * response, and the response if it is refused or fails.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning
 */
import { ProtocolError, toErrorObject } from '../../protocol/errors.ts'
import { singleValue } from '../../protocol/headers.ts'
import { errorResponse } from '../../protocol/jsonrpc.ts'
import type { Authenticator } from '../../server/auth.ts'
import { definitionOf, type ServerDefinition } from '../../server/definition.ts'
import type { BaseServer } from '../../server/server.ts'
import type { EndpointOptions } from '../streamable-http/options.ts'
import { allowOrigin, preflightResponse } from './cors.ts'
import { HttpError, jsonResponse } from './http-error.ts'
import { checkOrigin } from './origin.ts'

/** Where requests may come from. */
type OriginOptions = Pick<EndpointOptions, 'allowedOrigins' | 'allowedHosts'>

/** The checks of one request, and the CORS headers of its response. */
export class RequestChecks {
  readonly #server: ServerDefinition
  readonly #options: OriginOptions & { readonly auth?: Authenticator | undefined }
  readonly #request: Request
  readonly #origin: string | null
  /** The origin whose pages may read the response: none until it is known to be allowed. */
  #reader: string | null = null

  constructor(
    server: ServerDefinition,
    options: OriginOptions & { readonly auth?: Authenticator | undefined },
    request: Request,
  ) {
    const { headers } = request
    const origin = singleValue(headers, 'origin')
    this.#server = server
    this.#options = options
    this.#request = request
    // Different values in repeated headers are joined, which is no origin that could be allowed
    this.#origin = origin === undefined ? headers.get('origin') : origin
  }

  /**
   * Checks where the request comes from.
   *
   * @returns The response to a preflight request, or to one for the metadata.
   * @throws {HttpError} 403.
   */
  check(): Response | undefined {
    const published = this.#options.auth?.handleMetadata(this.#request)
    if (published) return published
    checkOrigin(this.#request, this.#origin, this.#options)
    this.#reader = this.#origin
    return this.#request.method === 'OPTIONS' ? preflightResponse(this.#request) : undefined
  }

  /** Lets a page that may call read the response. */
  respond(response: Response): Response {
    return allowOrigin(response, this.#reader)
  }

  /** The response to a request that was refused, or that failed. */
  respondError(error: unknown): Response {
    // What a host cannot do now, such as store a session, is no fault of the request.
    const refusal = error instanceof ProtocolError ? new HttpError(503, error) : error
    if (!(refusal instanceof HttpError)) {
      this.#server.report(error)
      return this.respond(jsonResponse(errorResponse(undefined, toErrorObject(error)), 500))
    }
    const { status, error: cause, options } = refusal
    const { code, message } = cause
    const { id, headers, reason } = options
    const origin = this.#origin
    this.#server.observe?.({ type: 'refusal', status, code, message, reason, origin })
    return this.respond(jsonResponse(errorResponse(id, toErrorObject(cause)), status, headers))
  }
}

/** Answers a request in place of a handler. */
export type Guard = (
  request: Request,
  answer: () => Response | Promise<Response>,
) => Promise<Response>

/**
 * Guards the routes of a host beside its handler's, such as those that answer with 404: checks origin
 * and host as the handler does, and adds CORS headers, without which pages see a network failure in
 * place of the response. Asks for no token.
 *
 * @throws {TypeError} when the server was not made by `createServer`.
 */
export function createGuard(server: BaseServer, options: OriginOptions): Guard {
  const definition = definitionOf(server)
  const open = { ...options, auth: undefined }
  return async (request, answer) => {
    const guard = new RequestChecks(definition, open, request)
    try {
      return guard.respond(guard.check() ?? (await answer()))
    } catch (error) {
      return guard.respondError(error)
    }
  }
}
