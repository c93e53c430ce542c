/**
 * The end of a caller's authorization, at which the streams end that it has open: whoever has a new
 * token comes back with it.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#token-handling
 */
import { MAX_DELAY_MS } from '../patterns/timers.ts'
import type { Caller } from './exchange.ts'

/** For how long a token is good that was admitted within the tolerance for clocks, in milliseconds. */
const TOLERANCE_MS = 30_000

/** Calls `tell` with the reason once the authorization ends; gives what stops watching. */
export function onAuthorizationEnd(
  { auth, revoked }: Caller,
  tell: (reason: string) => void,
): () => void {
  const leftMs = (auth?.expiresAt ?? Infinity) - Date.now()
  const delayMs = Math.min(leftMs > 0 ? leftMs : TOLERANCE_MS, MAX_DELAY_MS)
  const expired = (): void => tell('The access token expired')
  const timer = leftMs < Infinity ? setTimeout(expired, delayMs) : undefined
  const stop = revoked?.(() => tell('The access token was revoked'))
  return () => {
    clearTimeout(timer)
    stop?.()
  }
}
