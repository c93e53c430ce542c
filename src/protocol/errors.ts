/**
 * Errors that are sent as JSON-RPC errors, and errors that stay local.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#error-codes
 */
import {
  URL_ELICITATION_REQUIRED,
  INVALID_PARAMS,
  RESOURCE_NOT_FOUND,
  INTERNAL_ERROR,
} from './error-codes.ts'
import type { ErrorObject, UrlElicitation } from './types.ts'

/**
 * A JSON-RPC error. An error that a handler throws is sent unchanged. An error that a client method such
 * as `callTool` throws contains the server's error response.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#error-codes
 */
export class ProtocolError extends Error {
  /**
   * The JSON-RPC error code, an integer. The codes from -32768 to -32000 are reserved. A code from
   * -32099 to -32000 that the protocol does not define becomes -32603 for clients of 2026-07-28.
   */
  readonly code: number
  /** Additional data to send to the peer. */
  readonly data: unknown
  /** The HTTP status of the response. On a client it is set only if the transport is HTTP. */
  status: number | undefined
  /** The header `Retry-After` of the HTTP response; on a client only. */
  declare retryAfter?: string | null | undefined
  /**
   * The readable part of a message that a transport could not read completely, such as its `id` and
   * `method`; not sent to the peer.
   */
  declare partialMessage?: Readonly<Record<string, unknown>> | undefined

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.name = 'ProtocolError'
    this.code = code
    this.data = data
  }
}

/** Why a {@link SdkError} was raised. */
export type SdkErrorCode =
  /** No response before the timeout. */
  | 'TIMEOUT'
  /** The connection or the client is closed. */
  | 'CLOSED'
  /** The session ended on the server and could not be opened again. */
  | 'SESSION_LOST'
  /** The caller's `AbortSignal` aborted. */
  | 'ABORTED'
  /** The user or the application rejected the operation. */
  | 'DENIED'
  /** The peer did not advertise a capability that the call needs. */
  | 'CAPABILITY_MISSING'
  /** The peer, the revision or the mode of the server or client does not support what was requested. */
  | 'UNSUPPORTED'
  /** The peer sent something that the protocol does not allow. */
  | 'INVALID_MESSAGE'
  /** A limit of this SDK was reached: size, pages, rounds, queue. */
  | 'LIMIT_EXCEEDED'
  /** Client and server have no protocol version in common. */
  | 'VERSION_MISMATCH'
  /** The server answered with an HTTP status to which the protocol assigns no meaning. */
  | 'HTTP'
  /** The network failed. */
  | 'NETWORK'
  /** The server requires authorization. */
  | 'UNAUTHORIZED'
  /** The server requires more than was authorized, such as another scope. */
  | 'FORBIDDEN'
  /** A configuration or call that cannot work. */
  | 'INVALID_USE'

/**
 * Requires that the user visits pages before the client sends the request again. In 2025-11-25, the
 * client receives an error with the pages. Since 2026-07-28, it receives input requests instead. A client
 * that supports neither receives a generic failure.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#url-elicitation-required-error
 */
export class UrlElicitationRequired extends ProtocolError {
  /** The pages that the user must visit. */
  readonly elicitations: readonly UrlElicitation[]

  constructor(
    elicitations: readonly UrlElicitation[],
    message = 'The user must visit a page first',
  ) {
    super(URL_ELICITATION_REQUIRED, message, { elicitations })
    this.name = 'UrlElicitationRequired'
    this.elicitations = elicitations
  }
}

/** A local failure, not caused by a JSON-RPC error from the peer. */
export class SdkError extends Error {
  /** A stable string for `switch` statements. */
  readonly code: SdkErrorCode
  /** Details of the failure, such as `status` for `HTTP`. */
  readonly data: unknown

  constructor(code: SdkErrorCode, message: string, options?: { cause?: unknown; data?: unknown }) {
    super(message, options?.cause ? options : undefined)
    this.name = 'SdkError'
    this.code = code
    this.data = options?.data
  }
}

/**
 * A tool's failure that the model may read: its message becomes the text of the `isError` result. For
 * any other thrown value, the model receives no details.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools#error-handling
 */
export class ToolError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ToolError'
  }
}

/**
 * Returns whether a failed `resources/read` means that the resource does not exist: -32002 before
 * 2026-07-28, since then `INVALID_PARAMS` with the URI in its data.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/resources#error-handling
 */
export function isResourceNotFound(error: unknown): error is ProtocolError {
  if (!(error instanceof ProtocolError)) return false
  const { code, data } = error
  const namesUri = typeof data === 'object' && data !== null && 'uri' in data
  return code === RESOURCE_NOT_FOUND || (code === INVALID_PARAMS && namesUri)
}

/**
 * The HTTP status of a failed request; 200 for a JSON-RPC error without another status. Undefined for a failed
 * sign-in, because its status came from the authorization server.
 */
export function statusOf(error: unknown): number | undefined {
  if (error instanceof ProtocolError) return error.status ?? 200
  const isHttp = error instanceof SdkError && error.code === 'HTTP'
  return isHttp ? (error.data as { status?: number } | undefined)?.status : undefined
}

/**
 * Longer waits before retrying, in milliseconds, are ignored: JavaScript would write them with an exponent,
 * which headers do not allow.
 */
const MAX_RETRY_AFTER_MS = 1e21

/** How long to wait before retrying, in milliseconds, if the data of the error has it as a non-negative number. */
export function retryAfterMsOf({ data }: { readonly data?: unknown }): number | undefined {
  const { retryAfterMs } = (data ?? {}) as { retryAfterMs?: unknown }
  return typeof retryAfterMs === 'number' && retryAfterMs >= 0 && retryAfterMs < MAX_RETRY_AFTER_MS
    ? retryAfterMs
    : undefined
}

/** The error object to send for any thrown value; unknown values become "Internal error". */
export function toErrorObject(error: unknown): ErrorObject {
  if (!(error instanceof ProtocolError)) return { code: INTERNAL_ERROR, message: 'Internal error' }
  const { message, data } = error
  const code = Number.isInteger(error.code) ? error.code : INTERNAL_ERROR
  return data === undefined ? { code, message } : { code, message, data }
}
