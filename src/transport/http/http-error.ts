/**
 * A request that is refused before it is dispatched: an HTTP status and, where JSON-RPC has one, an
 * error.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#server-validation
 */
import { wellFormedJson } from '../../patterns/well-formed-json.ts'
import { errorResponse, type JsonRpcMessage, type RequestId } from '../../protocol/jsonrpc.ts'
import {
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  ProtocolError,
  retryAfterMsOf,
  toErrorObject,
} from '../../protocol/errors.ts'

/** What is known of a refused request, and more headers of its response. */
export interface RefusalOptions {
  /** The id of the request, where it could be read. */
  id?: RequestId | undefined
  headers?: Readonly<Record<string, string>>
  /** What only the author of the server is told. */
  reason?: string | undefined
}

/** Thrown while a request is checked; the handler makes it a response. */
export class Refusal extends Error {
  /** The HTTP status. */
  readonly status: number
  readonly error: ProtocolError
  readonly options: RefusalOptions

  constructor(status: number, error: ProtocolError, options: RefusalOptions = {}) {
    super(error.message, { cause: error })
    this.name = 'Refusal'
    this.status = status
    this.error = error
    this.options = options
  }
}

/** Refuses a request, saying why. */
export function refuse(status: number, message: string, options?: RefusalOptions): Refusal {
  return new Refusal(status, new ProtocolError(INVALID_REQUEST, message), options)
}

/** Refuses a request that does not say to which session it belongs. */
export function namesNoSession(): Refusal {
  return refuse(400, 'The "Mcp-Session-Id" header is missing')
}

/** Refuses a request of a session that is not there. */
export function sessionNotFound(): Refusal {
  return refuse(404, 'Session not found')
}

/** Refuses a request that came after the end. */
export function closed(): Refusal {
  return refuse(503, 'The server is closed')
}

/** Refuses what a check finds wrong: by 404 when it is the method, by 400 otherwise. */
export function refuseInvalid<T>(check: () => T, id?: RequestId): T {
  try {
    return check()
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    throw new Refusal(error.code === METHOD_NOT_FOUND ? 404 : 400, error, { id })
  }
}

/** The response that tells of a refusal. */
export function refusalResponse({ status, error, options }: Refusal): Response {
  return jsonResponse(errorResponse(options.id, toErrorObject(error)), status, options.headers)
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
