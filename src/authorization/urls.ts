/**
 * Checks the URLs that signing in uses. Servers name these URLs, so none of them is trusted.
 *
 * @see https://modelcontextprotocol.io/docs/2026-07-28/tutorials/security/security_best_practices
 */
import { isLoopback } from '../patterns/loopback.ts'
import { AuthorizationError, type AuthorizationStep } from './errors.ts'
import { parseUrl } from '../patterns/url.ts'

/** Decides whether a URL that a server named may be used. */
export type UrlPolicy = (url: URL) => boolean | Promise<boolean>

/**
 * Checks a URL before use. It must use HTTPS, or HTTP to localhost, contain no user info or fragment, and
 * be allowed by the policy.
 *
 * @param kind What the URL is, for the error message.
 * @throws {AuthorizationError} If the URL may not be used.
 */
export async function checkUrl(
  value: unknown,
  kind: string,
  step: AuthorizationStep,
  allowed: UrlPolicy,
): Promise<URL> {
  const url = typeof value === 'string' ? parseUrl(value) : undefined
  const isSecure = url && (url.protocol === 'https:' || isLocalHttp(url))
  if (!isSecure || url.username || url.password || url.hash || !(await allowed(url))) {
    throw new AuthorizationError(step, `The ${kind} "${String(value)}" may not be used`)
  }
  return url
}

/** Whether a URL is plain HTTP to localhost. */
export function isLocalHttp(url: URL): boolean {
  return url.protocol === 'http:' && isLoopback(url.hostname)
}
