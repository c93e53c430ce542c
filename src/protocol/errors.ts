/**
 * Errors: those that cross the wire as they are thrown, and those that stay local.
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

export * from './error-codes.ts'
export type { ErrorObject, UrlElicitation } from './types.ts'

/**
 * A protocol-level failure. Thrown by a handler it crosses the wire as it is; thrown by a client
 * call it is what the peer answered.
 */
export class ProtocolError extends Error {
  /**
   * The JSON-RPC error code, an integer. Those from -32768 to -32000 are reserved: one of -32099 to
   * -32000 that the protocol does not define becomes -32603 for clients of 2026-07-28.
   */
  readonly code: number
  /** What the peer is told beside the message. */
  readonly data: unknown
  /** The HTTP status that it came with; on a client, over HTTP only. */
  status: number | undefined
  /**
   * What could be read of the message that a transport could not read whole, such as its `id` and
   * `method`; the peer is not told.
   */
  declare about?: Readonly<Record<string, unknown>> | undefined

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.name = 'ProtocolError'
    this.code = code
    this.data = data
  }
}

/** Why a {@link McpError} was raised. */
export type McpErrorCode =
  /** No answer within the time given. */
  | 'TIMEOUT'
  /** The connection, or the client, is closed. */
  | 'CLOSED'
  /** The session ended on the server and could not be opened again. */
  | 'SESSION_LOST'
  /** The caller's `AbortSignal` fired. */
  | 'ABORTED'
  /** Whoever has to approve said no. */
  | 'DENIED'
  /** The peer did not advertise what the call needs. */
  | 'CAPABILITY_MISSING'
  /** The peer, the revision or this mode cannot do what was asked. */
  | 'UNSUPPORTED'
  /** The peer sent something that the protocol does not allow. */
  | 'INVALID_MESSAGE'
  /** A limit of this SDK was reached: size, pages, rounds, queue. */
  | 'LIMIT_EXCEEDED'
  /** No common protocol version. */
  | 'VERSION_MISMATCH'
  /** The server answered with an HTTP status that the protocol gives no meaning. */
  | 'HTTP'
  /** The network failed. */
  | 'NETWORK'
  /** The server wants authorization. */
  | 'UNAUTHORIZED'
  /** The server wants more than was authorized, such as another scope. */
  | 'FORBIDDEN'
  /** Something was configured or called in a way that cannot work. */
  | 'INVALID_USE'

/**
 * Tells a client that the user must visit pages first, and then to send the request again
 * (2025-11-25, client/elicitation#url-elicitation-required-error). Since 2026-07-28 the client is
 * asked for it instead; a client that knows neither gets a plain failure.
 */
export class UrlElicitationRequired extends ProtocolError {
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

/** A local failure: nothing of it came from the peer as a JSON-RPC error. */
export class McpError extends Error {
  /** A stable string to switch on. */
  readonly code: McpErrorCode
  /** Facts about the failure, such as `status` for `HTTP`. */
  readonly data: unknown

  constructor(code: McpErrorCode, message: string, options?: { cause?: unknown; data?: unknown }) {
    super(message, options?.cause ? options : undefined)
    this.name = 'McpError'
    this.code = code
    this.data = options?.data
  }
}

/**
 * A tool's failure that the model is meant to read: its message becomes the text of the `isError`
 * result. Every other thrown value is reported to the model without detail.
 */
export class ToolError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ToolError'
  }
}

/**
 * Whether a failed `resources/read` tells that there is no such resource: by -32002 before
 * 2026-07-28, since then by `INVALID_PARAMS` with the URI in its data.
 */
export function isResourceNotFound(error: unknown): error is ProtocolError {
  if (!(error instanceof ProtocolError)) return false
  const { code, data } = error
  const namesUri = typeof data === 'object' && data !== null && 'uri' in data
  return code === RESOURCE_NOT_FOUND || (code === INVALID_PARAMS && namesUri)
}

/** The HTTP status of a failure. A failed sign-in has none, as its status is of another server. */
export function statusOf(error: unknown): number | undefined {
  if (error instanceof ProtocolError) return error.status ?? 200
  const isHttp = error instanceof McpError && error.code === 'HTTP'
  return isHttp ? (error.data as { status?: number } | undefined)?.status : undefined
}

/** How long to wait before trying again, in milliseconds, if the error says so. */
export function retryAfterMsOf({ data }: { readonly data?: unknown }): number | undefined {
  const { retryAfterMs } = (data ?? {}) as { retryAfterMs?: unknown }
  return typeof retryAfterMs === 'number' ? retryAfterMs : undefined
}

/** The error object that tells a peer of any thrown value; unknown ones become "Internal error". */
export function toErrorObject(error: unknown): ErrorObject {
  if (!(error instanceof ProtocolError)) return { code: INTERNAL_ERROR, message: 'Internal error' }
  const { message, data } = error
  const code = Number.isInteger(error.code) ? error.code : INTERNAL_ERROR
  return data === undefined ? { code, message } : { code, message, data }
}
