/**
 * The end of a caller's authorization, which closes its open streams. A client with a new token
 * opens them again.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#token-handling
 */
import { MAX_TIMER_MS } from '../patterns/timers.ts'
import type { Caller } from './request/exchange.ts'

/**
 * The delay if the token has already expired by this machine's clock, in milliseconds: the
 * verifier, which tolerates clock skew, has just accepted it.
 */
const EXPIRED_TOKEN_DELAY_MS = 30_000

/**
 * Calls `onEnd` with the reason when the authorization ends. Returns a function that stops
 * watching.
 */
export function onAuthorizationEnd(
  { auth, onRevoked }: Caller,
  onEnd: (reason: string) => void,
): () => void {
  const remainingMs = (auth?.expiresAt ?? Infinity) - Date.now()
  const delayMs = Math.min(remainingMs > 0 ? remainingMs : EXPIRED_TOKEN_DELAY_MS, MAX_TIMER_MS)
  const onExpired = (): void => onEnd('The access token expired')
  const timer = remainingMs < Infinity ? setTimeout(onExpired, delayMs) : undefined
  const stopWatching = onRevoked?.(() => onEnd('The access token was revoked'))
  return () => {
    clearTimeout(timer)
    stopWatching?.()
  }
}
