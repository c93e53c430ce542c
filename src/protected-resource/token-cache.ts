/**
 * A cache of recently verified access tokens, because a client sends the same token with each
 * request.
 *
 * @see https://www.rfc-editor.org/rfc/rfc7662#section-4
 */
import { boundedCache } from '../patterns/bounded-cache.ts'
import { isObject } from '../protocol/validate.ts'
import type { AccessToken, TokenVerifier } from './access-token.ts'

/** How many tokens are cached, and for how long. */
export interface CacheTokensOptions {
  /**
   * How long a verified token is accepted without being verified again, in milliseconds, but never
   * beyond its expiry; 0 disables the cache. For that long, a revoked token or a withdrawn signing
   * key goes unnoticed.
   *
   * @default 60000
   */
  cacheTtlMs?: number
  /**
   * The maximum number of cached tokens. When it is exceeded, the oldest token is evicted.
   *
   * @default 1000
   */
  maxEntries?: number
}

/**
 * Caches a verifier's results for valid tokens, in the memory of this instance. The cache saves a request to
 * the authorization server, or the check of a signature. `jwtTokens` already has such a cache. Issuer,
 * audience, lifetime, scopes and proofs are still checked for each request. Cached tokens are frozen, since
 * the handlers of several requests see the same object.
 *
 * @example
 * ```ts
 * import { cacheTokens, type TokenVerifier } from 'edgewise/protected-resource'
 *
 * export const cached = (verify: TokenVerifier) => cacheTokens(verify, { cacheTtlMs: 10_000 })
 * ```
 *
 * @see https://www.rfc-editor.org/rfc/rfc7662#section-4
 */
export function cacheTokens(
  verify: TokenVerifier,
  { cacheTtlMs = 60_000, maxEntries = 1000 }: CacheTokensOptions = {},
): TokenVerifier {
  const isCaching = cacheTtlMs > 0 && maxEntries > 0
  if (!isCaching) return verify
  // The whole token is the key, so that no other token, for example with another signature, is
  // accepted in its place. A digest as the key would not hide the token from anyone who can read
  // this memory, since the requests contain it anyway. Computing the digest would cost the
  // asynchronous work that the cache is meant to save.
  const cache = boundedCache<string, AccessToken>(maxEntries)
  return async (text, expected) => {
    const cached = cache.get(text)
    if (cached) return cached
    const token = await verify(text, expected)
    if (!token || 'refused' in token) return token
    const remainingMs = (token.expiresAt ?? Infinity) - Date.now()
    freeze(token)
    cache.set(text, token, performance.now() + Math.min(cacheTtlMs, remainingMs))
    return token
  }
}

/** Freezes a JSON value deeply. */
function freeze(value: unknown): void {
  const isPlainObject = isObject(value) && Object.getPrototypeOf(value) === Object.prototype
  const isContainer = isPlainObject || Array.isArray(value)
  if (!isContainer || Object.isFrozen(value)) return
  Object.freeze(value)
  for (const member of Object.values(value)) freeze(member)
}
