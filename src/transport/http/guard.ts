/**
 * The parts that every HTTP endpoint shares: the check of a request's origin, CORS headers, and error
 * responses.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning
 */
import { ProtocolError, toErrorObject } from '../../protocol/errors.ts'
import { singleValue } from '../../protocol/headers.ts'
import { errorResponse } from '../../protocol/jsonrpc.ts'
import type { Authenticator } from '../../server/auth.ts'
import type { RefusedMessage } from '../../server/observer.ts'
import type { ServerDefinition } from '../../server/definition.ts'
import { definitionOf } from '../../server/definition-of.ts'
import type { BaseServer } from '../../server/server.ts'
import type { EndpointOptions } from '../streamable-http/options.ts'
import { allowOrigin, preflightResponse } from './cors.ts'
import { HttpError, jsonResponse } from './http-error.ts'
import { checkOrigin } from './origin.ts'

/** The allowed origins and hosts. */
type OriginOptions = Pick<EndpointOptions, 'allowedOrigins' | 'allowedHosts'>

/** The checks of one request, and the CORS headers of its response. */
export class RequestChecks {
  readonly #server: ServerDefinition
  readonly #options: OriginOptions & { readonly auth?: Authenticator | undefined }
  readonly #request: Request
  readonly #origin: string | null
  /** The origin whose pages may read the response; `null` until the origin has been checked. */
  #allowedOrigin: string | null = null

  constructor(
    server: ServerDefinition,
    options: OriginOptions & { readonly auth?: Authenticator | undefined },
    request: Request,
  ) {
    const origin = singleValue(request.headers, 'origin')
    this.#server = server
    this.#options = options
    this.#request = request
    // Conflicting values of a repeated header are joined, which never matches an allowed origin
    this.#origin = origin === undefined ? request.headers.get('origin') : origin
  }

  /**
   * Checks the origin of the request.
   *
   * @returns The response to a preflight or metadata request.
   * @throws {HttpError} 403.
   */
  check(): Response | undefined {
    const request = this.#request
    const metadata = this.#options.auth?.handleMetadata(request)
    if (metadata) return metadata
    checkOrigin(request, this.#origin, this.#options)
    this.#allowedOrigin = this.#origin
    return request.method === 'OPTIONS' ? preflightResponse(request) : undefined
  }

  /** Adds CORS headers, so that an allowed page can read the response. */
  respond(response: Response): Response {
    return allowOrigin(response, this.#allowedOrigin)
  }

  /**
   * Creates the response for an error.
   *
   * @param incoming The request, if its caller is known.
   */
  respondError(error: unknown, incoming?: RefusedMessage): Response {
    // A temporary failure of the server, for example to store a session, is not a client error
    const rejection = error instanceof ProtocolError ? new HttpError(503, error) : error
    if (!(rejection instanceof HttpError)) {
      this.#server.report(error)
      return this.respond(jsonResponse(errorResponse(undefined, toErrorObject(error)), 500))
    }
    const { status, error: cause } = rejection
    const { id, headers } = rejection.options
    this.#server.observe?.refuse(this.#server, rejection, this.#origin, incoming)
    return this.respond(jsonResponse(errorResponse(id, toErrorObject(cause)), status, headers))
  }
}

/**
 * Handles a request outside of the endpoint: checks it, and calls `answer` to create the response.
 */
export type Guard = (
  request: Request,
  answer: () => Response | Promise<Response>,
) => Promise<Response>

/**
 * Creates the guard for a host's routes outside of the handler, such as those that respond with 404. It checks origin
 * and host like the handler, but does not authenticate. It adds CORS headers, because pages would otherwise see a
 * network error instead of the response.
 *
 * @throws {TypeError} If the server was not created by `createServer`.
 */
export function createGuard(server: BaseServer, options: OriginOptions): Guard {
  const definition = definitionOf(server)
  const unauthenticated = { ...options, auth: undefined }
  return async (request, answer) => {
    const checks = new RequestChecks(definition, unauthenticated, request)
    try {
      return checks.respond(checks.check() ?? (await answer()))
    } catch (error) {
      return checks.respondError(error)
    }
  }
}
