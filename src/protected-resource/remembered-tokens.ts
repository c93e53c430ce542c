/**
 * Access tokens whose authenticity was found out a moment ago: a client sends the same one with each
 * request.
 *
 * @see https://www.rfc-editor.org/rfc/rfc7662#section-4
 */
import { boundedCache } from '../patterns/bounded-cache.ts'
import { isObject } from '../protocol/validate.ts'
import type { AccessToken, TokenVerifier } from './access-token.ts'

/** For how long, and how many, tokens are remembered. */
export interface CacheTokensOptions {
  /**
   * For how long a token is not verified again, in milliseconds, though never past its end; 60,000
   * by default, and 0 remembers none. For so long nobody notices that a token was revoked, or that
   * the key that signed it was withdrawn.
   */
  cacheTtlMs?: number
  /** How many are remembered; 1,000 by default. Beyond that the oldest are forgotten. */
  maxEntries?: number
}

/**
 * Remembers what a verifier said of good tokens, in the memory of this instance. Spares a request to
 * the authorization server, or, as `jwtTokens` does by itself, the check of a signature. Issuer,
 * audience, times, scopes and proofs are still checked with each request. What is remembered is
 * frozen, as handlers of several requests get to see it.
 */
export function cacheTokens(
  verify: TokenVerifier,
  { cacheTtlMs = 60_000, maxEntries = 1000 }: CacheTokensOptions = {},
): TokenVerifier {
  if (!(cacheTtlMs > 0 && maxEntries > 0)) return verify
  // By the whole token, so that no other one, with another signature say, passes for it. A digest
  // would keep it from whoever reads this memory, who finds it in the requests anyway, and would
  // cost a trip to another thread, which is what remembering is to spare.
  const known = boundedCache<string, AccessToken>(maxEntries)
  return async (text, expected) => {
    const found = known.get(text)
    if (found) return found
    const token = await verify(text, expected)
    if (!token || 'refused' in token) return token
    const leftMs = (token.expiresAt ?? Infinity) - Date.now()
    freeze(token)
    known.set(text, token, performance.now() + Math.min(cacheTtlMs, leftMs))
    return token
  }
}

/** Keeps what JSON can be from being changed. */
function freeze(value: unknown): void {
  const plain = isObject(value) && Object.getPrototypeOf(value) === Object.prototype
  if (!(plain || Array.isArray(value)) || Object.isFrozen(value)) return
  Object.freeze(value)
  for (const member of Object.values(value)) freeze(member)
}
