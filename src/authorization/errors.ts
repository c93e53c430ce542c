/**
 * What can go wrong while signing in: the step, and what was answered.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#error-handling
 */
import { McpError } from '../protocol/errors.ts'

/** Where in the course of signing in something failed. */
export type AuthorizationStep =
  /** Reading what the MCP server says of itself (RFC 9728). */
  | 'resource-metadata'
  /** Reading what the authorization server says of itself (RFC 8414, OpenID Connect Discovery). */
  | 'server-metadata'
  /** Finding out as which client to appear, or registering one (RFC 7591). */
  | 'registration'
  /** Sending the user away, and what came back. */
  | 'authorization'
  /** Getting a token for a code, an assertion or credentials. */
  | 'token'
  /** Getting a new token for a refresh token. */
  | 'refresh'
  /** The MCP server refuses the token. */
  | 'access'

/** What a server answered, without anything that is secret. */
export interface AuthorizationAnswer {
  /** The URL that was asked, without its query. */
  readonly url: string
  /** The HTTP status. */
  readonly status: number
  /** The OAuth error code, such as `invalid_grant`. */
  readonly error?: string | undefined
  /** What the server says about it; meant for developers. */
  readonly description?: string | undefined
  /** The beginning of a body that is no JSON, such as the HTML page of a proxy. */
  readonly body?: string | undefined
}

/** Signing in failed. Its `code` is `UNAUTHORIZED`, or `FORBIDDEN` when only scopes are missing. */
export class AuthorizationError extends McpError {
  /** What was being done. */
  readonly step: AuthorizationStep
  /** What was answered, if anything was. */
  readonly answer: AuthorizationAnswer | undefined

  constructor(
    step: AuthorizationStep,
    message: string,
    answer?: AuthorizationAnswer,
    cause?: unknown,
    code: 'UNAUTHORIZED' | 'FORBIDDEN' = 'UNAUTHORIZED',
  ) {
    // Servers are quoted in it, and what is shown on a terminal must not steer that
    super(code, message.replace(/\p{Cc}+/gu, ' '), { cause, data: { step, ...answer } })
    this.name = 'AuthorizationError'
    this.step = step
    this.answer = answer
  }
}
