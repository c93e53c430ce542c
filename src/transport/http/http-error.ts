/**
 * Errors that become an HTTP status, with a JSON-RPC error in the body.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#server-validation
 */
import { wellFormedJson } from '../../protocol/well-formed-json.ts'
import type { ErrorObject, JsonRpcMessage, RequestId } from '../../protocol/types.ts'
import { ProtocolError, retryAfterMsOf } from '../../protocol/errors.ts'
import { INTERNAL_ERROR, INVALID_REQUEST } from '../../protocol/error-codes.ts'

/** Details of a rejected request, and additional headers of its response. */
export interface HttpErrorOptions {
  /** The id of the request, if it could be read. */
  id?: RequestId | undefined
  headers?: Readonly<Record<string, string>>
  /** A detailed reason for the operator of the server, withheld from the client. */
  reason?: string | undefined
}

/** An error that the HTTP handler converts to a response with an error status. */
export class HttpError extends Error {
  /** The HTTP status. */
  readonly status: number
  readonly error: ProtocolError
  readonly options: HttpErrorOptions

  constructor(status: number, error: ProtocolError, options: HttpErrorOptions = {}) {
    super(error.message)
    this.status = status
    this.error = error
    this.options = options
  }
}

/** Creates an error with the JSON-RPC code `INVALID_REQUEST`. */
export function invalidRequest(
  status: number,
  message: string,
  options?: HttpErrorOptions,
): HttpError {
  return new HttpError(status, new ProtocolError(INVALID_REQUEST, message), options)
}

/** Creates the error for a session that does not exist, or belongs to another caller. */
export function sessionNotFound(): HttpError {
  return invalidRequest(404, 'Session not found')
}

/** Creates the error for an unsupported HTTP method. */
export function methodNotAllowed({ method }: Request, allow: string): HttpError {
  return invalidRequest(405, `"${method}" is not allowed`, { headers: { allow } })
}

/** How long clients wait after a response with the status 503 that names no time. */
const RETRY_LATER_MS = 5000

const JSON_TYPE = { 'content-type': 'application/json' }

/**
 * The class of JSON responses, if it is not `Response`, and the options of the responses with the status 200. The listener
 * for Node sets a class that creates the stream of the body only when it is needed, because on Node a `Response` costs more
 * than the rest of a small call.
 */
export const jsonResponses: { Class?: typeof Response; ok?: ResponseInit } = {}

/** Creates the empty response, with the status 202, to a POST of notifications or of JSON-RPC responses. */
export function accepted(): Response {
  return new Response(null, { status: 202 })
}

/** Creates a JSON response with one message, or a batch. */
export function jsonResponse(
  body: JsonRpcMessage | readonly JsonRpcMessage[],
  status = 200,
  headers?: Readonly<Record<string, string>>,
): Response {
  const text = wellFormedJson(body)
  const { error } = body as { error?: ErrorObject }
  let retryAfterMs = error && retryAfterMsOf(error)
  // Either the server fails temporarily, or the caller exceeds a limit
  if (retryAfterMs !== undefined) status = error?.code === INTERNAL_ERROR ? 503 : 429
  else if (status === 503) retryAfterMs = RETRY_LATER_MS
  if (retryAfterMs !== undefined) {
    headers = { ...headers, 'retry-after': `${Math.ceil(retryAfterMs / 1000)}` }
  }
  const { Class = Response } = jsonResponses
  const isOk = status === 200 && !headers
  return new Class(
    text,
    isOk
      ? // Created only once, with an instance of `Headers`, because workerd reads other options slowly. Not created at the
        // start of a program, because `Headers` loads the HTTP client of Node
        (jsonResponses.ok ??= { headers: new Headers(JSON_TYPE) })
      : { status, headers: { ...JSON_TYPE, ...headers } },
  )
}
