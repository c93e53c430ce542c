/**
 * What a refused client is told, so that it can get what is missing.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6750#section-3
 * @see https://www.rfc-editor.org/rfc/rfc9728#section-5.1
 * @see https://www.rfc-editor.org/rfc/rfc9449#section-7.1
 */
import { invalidRequest, type HttpError } from '../transport/http/http-error.ts'
import { SCOPE, type Settings } from './options.ts'

/** Why a request is refused. */
export interface Reason {
  readonly status: 400 | 401 | 403
  /** In people's words, as `error_description` too; without quotes. */
  readonly message: string
  /** What only the author of the server is told. */
  readonly reason?: string | undefined
  readonly error?: string
  /** The scheme that the client used; without one it gets a challenge for each. */
  readonly scheme?: 'bearer' | 'dpop' | undefined
  readonly nonce?: string | undefined
  readonly id?: string | number | undefined
}

/**
 * A refusal with its challenge.
 *
 * @param needed Everything that the operation needs; by default what every request does.
 */
export function challenge(
  { metadataUrl, scopes: basic, options: { dpop } }: Settings,
  { status, message, error, scheme, nonce, id, reason }: Reason,
  needed: readonly string[] = basic,
): HttpError {
  // Those of a token are whatever its issuer let through, and must not become another parameter
  const scopes = needed.filter((scope) => SCOPE.test(scope))
  const told = [
    ...(error === undefined ? [] : [`error="${error}"`, `error_description="${plain(message)}"`]),
    `resource_metadata="${metadataUrl}"`,
    ...(scopes.length === 0 ? [] : [`scope="${scopes.join(' ')}"`]),
  ].join(', ')
  const challenges: string[] = []
  // Many clients read nothing but the first challenge, and know only this one
  if (scheme !== 'dpop' && !dpop?.required) challenges.push(`Bearer ${told}`)
  if (dpop && (dpop.required || scheme !== 'bearer' || error === undefined)) {
    challenges.push(`DPoP ${told}, algs="${dpop.algorithms.join(' ')}"`)
  }
  const headers: Record<string, string> = { 'www-authenticate': challenges.join(', ') }
  if (nonce !== undefined) headers['dpop-nonce'] = nonce
  return invalidRequest(status, message, { headers, id, reason })
}

/** A text as it may stand between quotes. */
function plain(text: string): string {
  return text.replace(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, '?')
}
