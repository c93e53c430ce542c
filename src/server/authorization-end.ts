/**
 * The end of a caller's authorization, at which the caller's open streams are closed. A client with a new token
 * opens them again.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#token-handling
 */
import { MAX_TIMER_MS } from '../patterns/timers.ts'
import type { Caller } from './request/exchange.ts'

/**
 * How long the authorization lasts, in milliseconds, if the token has already expired by this machine's clock,
 * but was accepted by the verifier, which tolerates clock skew.
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
