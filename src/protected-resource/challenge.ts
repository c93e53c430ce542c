/**
 * The challenge of a 401 or 403 response, which says how to obtain access.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6750#section-3
 * @see https://www.rfc-editor.org/rfc/rfc9728#section-5.1
 * @see https://www.rfc-editor.org/rfc/rfc9449#section-7.1
 */
import { invalidRequest, type HttpError } from '../transport/http/http-error.ts'
import { SCOPE, type Settings } from './options.ts'

/** Why a request is rejected. */
export interface Rejection {
  readonly status: 400 | 401 | 403
  /** Human-readable; also sent as `error_description`, so it must not contain quotes. */
  readonly message: string
  /** The reason that is reported to the operator only. */
  readonly reason?: string | undefined
  /** The OAuth error code. */
  readonly error?: string
  /** The scheme that the client used. If absent, the response has a challenge for each scheme. */
  readonly scheme?: 'bearer' | 'dpop' | undefined
  /** A nonce for the client's next DPoP proof. */
  readonly nonce?: string | undefined
  /** The id of the rejected JSON-RPC request. */
  readonly id?: string | number | undefined
}

/**
 * Creates an error response with its challenge.
 *
 * @param neededScopes All scopes that the operation needs; by default those that every request needs.
 */
export function challenge(
  { metadataUrl, scopes: basicScopes, options: { dpop } }: Settings,
  { status, message, error, scheme, nonce, id, reason }: Rejection,
  neededScopes: readonly string[] = basicScopes,
): HttpError {
  // Granted scopes come from the token unchecked and must not inject another parameter
  const scopes = neededScopes.filter((scope) => SCOPE.test(scope))
  const parameters = [
    ...(error === undefined
      ? []
      : [`error="${error}"`, `error_description="${quotable(message)}"`]),
    `resource_metadata="${metadataUrl}"`,
    ...(scopes.length === 0 ? [] : [`scope="${scopes.join(' ')}"`]),
  ].join(', ')
  const challenges: string[] = []
  // Bearer comes first, because many clients read only the first challenge, and support only Bearer
  if (scheme !== 'dpop' && !dpop?.required) challenges.push(`Bearer ${parameters}`)
  // A client whose bearer token was rejected needs DPoP only if it is required
  if (dpop && (dpop.required || scheme !== 'bearer' || error === undefined)) {
    challenges.push(`DPoP ${parameters}, algs="${dpop.algorithms.join(' ')}"`)
  }
  const headers: Record<string, string> = { 'www-authenticate': challenges.join(', ') }
  if (nonce !== undefined) headers['dpop-nonce'] = nonce
  return invalidRequest(status, message, { headers, id, reason })
}

/** Replaces the characters that a quoted string must not contain. */
function quotable(text: string): string {
  return text.replace(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, '?')
}
