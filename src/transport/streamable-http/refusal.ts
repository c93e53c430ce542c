/**
 * A request that is refused before it is dispatched: an HTTP status and, where JSON-RPC has one, an
 * error.
 */
import { errorResponse, type JsonRpcMessage, type RequestId } from '../../protocol/jsonrpc.ts'
import { toErrorObject, type ProtocolError } from '../../protocol/errors.ts'

/** Thrown while a request is checked; the handler makes it a response. */
export class Refusal extends Error {
  /** The HTTP status. */
  readonly status: number
  readonly error: ProtocolError
  /** The id of the refused request, where it could be read. */
  readonly id: RequestId | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    error: ProtocolError,
    options: { id?: RequestId | undefined; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(error.message, { cause: error })
    this.name = 'Refusal'
    this.status = status
    this.error = error
    this.id = options.id
    this.headers = options.headers ?? {}
  }
}

/** The response that tells of a refusal. */
export function refusalResponse({ status, error, id, headers }: Refusal): Response {
  return jsonResponse(errorResponse(id, toErrorObject(error)), status, headers)
}

/** A response of one message, or of a batch of them. */
export function jsonResponse(
  body: JsonRpcMessage | readonly JsonRpcMessage[],
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', ...headers },
  })
}
