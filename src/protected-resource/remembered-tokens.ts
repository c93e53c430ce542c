/**
 * Access tokens whose authenticity was found out a moment ago: a client sends the same one with each
 * request.
 */
import type { AccessToken, TokenVerifier } from './access-token.ts'

/** For how long, and how many, tokens are remembered. */
export interface RememberOptions {
  /**
   * Milliseconds; 60,000 by default. For so long nobody notices that a token was revoked, or a key
   * withdrawn; expiry is noticed at once.
   */
  forMs?: number
  /** How many; 1,000 by default. Beyond that the oldest are forgotten. */
  maxTokens?: number
}

/**
 * Remembers what a verifier said of good tokens, in the memory of this instance. Spares the check of
 * a signature, or a request to the authorization server; issuer, audience and times are still
 * checked with each request.
 */
export function rememberTokens(
  verify: TokenVerifier,
  { forMs = 60_000, maxTokens = 1000 }: RememberOptions = {},
): TokenVerifier {
  // In the order in which they were learnt, so that the oldest is in front
  const known = new Map<string, { token: AccessToken; until: number }>()
  return async (text, expected) => {
    const found = known.get(text)
    if (found && found.until > Date.now()) return found.token
    known.delete(text)
    const token = await verify(text, expected)
    if (!token) return undefined
    for (const oldest of known.keys()) {
      if (known.size < maxTokens) break
      known.delete(oldest)
    }
    known.set(text, { token, until: Date.now() + forMs })
    return token
  }
}
