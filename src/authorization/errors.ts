/**
 * The error of a failed sign-in, with the step and the response.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#error-handling
 */
import { SdkError } from '../protocol/errors.ts'

/** The OAuth error codes of temporary failures, which do not mean that the token is invalid. */
const TRANSIENT = /^(?:temporarily_unavailable|server_error|slow_down|use_dpop_nonce|rate_limit)/

/** The step of signing in that failed. */
export type AuthorizationStep =
  /** Reading the metadata of the MCP server (RFC 9728). */
  | 'resource-metadata'
  /** Reading the metadata of the authorization server (RFC 8414, OpenID Connect Discovery). */
  | 'server-metadata'
  /** Determining the client's identity, or registering the client (RFC 7591). */
  | 'registration'
  /** Redirecting the user, and reading the authorization response. */
  | 'authorization'
  /** Exchanging a code, an assertion or credentials for a token. */
  | 'token'
  /** Refreshing a token. */
  | 'refresh'
  /** The MCP server rejected the token. */
  | 'access'

/** The response of a server, without secrets. */
export interface AuthorizationAnswer {
  /** The requested URL, without its query. */
  readonly url: string
  /** The HTTP status. */
  readonly status: number
  /** The OAuth error code, such as `invalid_grant`. */
  readonly error?: string | undefined
  /** The server's description of the error; meant for developers. */
  readonly description?: string | undefined
  /** The beginning of a body that is not JSON, such as the HTML page of a proxy. */
  readonly body?: string | undefined
}

/**
 * The error of a failed sign-in. Its `code` is `UNAUTHORIZED`, or `FORBIDDEN` if only scopes are missing.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#error-handling
 */
export class AuthorizationError extends SdkError {
  /** The step that failed. */
  readonly step: AuthorizationStep
  /** The response, if there was one. */
  readonly answer: AuthorizationAnswer | undefined

  constructor(
    step: AuthorizationStep,
    message: string,
    answer?: AuthorizationAnswer,
    cause?: unknown,
    code: 'UNAUTHORIZED' | 'FORBIDDEN' = 'UNAUTHORIZED',
  ) {
    // The message may quote a server, so control characters are removed to protect terminals
    super(code, message.replace(/\p{Cc}+/gu, ' '), { cause, data: { step, ...answer } })
    this.name = 'AuthorizationError'
    this.step = step
    this.answer = answer
  }
}

/** Whether a refresh was rejected permanently, so that a retry would fail too. */
export function isPermanent(error: unknown): boolean {
  if (!(error instanceof AuthorizationError)) return false
  const { step, answer } = error
  if (step === 'registration') return true
  if (!answer || TRANSIENT.test(answer.error ?? '')) return false
  // Some servers reject with plain text or their own JSON format. Without an OAuth error code, the status decides
  const isRejected = answer.status === 400 || answer.status === 401
  return answer.error === undefined ? isRejected : answer.status <= 403
}
