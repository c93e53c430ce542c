/**
 * A request that is refused before it is dispatched: an HTTP status and, where JSON-RPC has one, an
 * error.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#server-validation
 */
import { wellFormedJson } from '../../protocol/well-formed-json.ts'
import type { JsonRpcMessage, RequestId } from '../../protocol/jsonrpc.ts'
import { INVALID_REQUEST, ProtocolError, retryAfterMsOf } from '../../protocol/errors.ts'

/** What is known of a refused request, and more headers of its response. */
export interface HttpErrorOptions {
  /** The id of the request, where it could be read. */
  id?: RequestId | undefined
  headers?: Readonly<Record<string, string>>
  /** A reason that only the author of the server learns. */
  reason?: string | undefined
}

/** Thrown before a request is dispatched; the handler makes it a response. */
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

/** The error of a request that is wrong, or comes at a wrong time. */
export function invalidRequest(
  status: number,
  message: string,
  options?: HttpErrorOptions,
): HttpError {
  return new HttpError(status, new ProtocolError(INVALID_REQUEST, message), options)
}

/** The error of a request whose session does not exist, or not for this caller. */
export function sessionNotFound(): HttpError {
  return invalidRequest(404, 'Session not found')
}

/** The error of an HTTP method that the endpoint does not have. */
export function methodNotAllowed({ method }: Request, allow: string): HttpError {
  return invalidRequest(405, `"${method}" is not allowed here`, { headers: { allow } })
}

/** Whoever cannot be served now may come back after that many seconds. */
const LATER = { 'retry-after': '5' }

const JSON_TYPE = { 'content-type': 'application/json' }
/** Made once, as reading options takes long on workerd. */
const JSON_OK = { headers: JSON_TYPE }

/** A response of one message, or of a batch of them. */
export function jsonResponse(
  body: JsonRpcMessage | readonly JsonRpcMessage[],
  status = 200,
  headers: Readonly<Record<string, string>> | undefined = status === 503 ? LATER : undefined,
): Response {
  const text = wellFormedJson(body)
  const afterMs = 'error' in body ? retryAfterMsOf(body.error) : undefined
  if (afterMs !== undefined) {
    status = 429
    headers = { ...headers, 'retry-after': `${Math.ceil(afterMs / 1000)}` }
  }
  if (status === 200 && !headers) return new Response(text, JSON_OK)
  return new Response(text, { status, headers: { ...JSON_TYPE, ...headers } })
}
