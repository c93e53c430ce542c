/**
 * Origin checks, so that pages of other sites cannot reach a server through a browser.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import { isLoopback } from '../../patterns/loopback.ts'
import { isAuthority, isOriginIn, parseRequestUrl } from '../../patterns/origin.ts'
import type { EndpointOptions } from '../streamable-http/options.ts'
import { invalidRequest } from './http-error.ts'
import { parseUrl } from '../../patterns/url.ts'

/**
 * Checks `Host` and `Origin`, so that pages of other sites cannot reach the server through a
 * browser, not even by DNS rebinding.
 *
 * @param origin The `Origin` header.
 * @throws {HttpError} 403.
 */
export function checkOrigin(
  request: Request,
  origin: string | null,
  options: Pick<EndpointOptions, 'allowedOrigins' | 'allowedHosts'>,
): void {
  const { allowedHosts } = options
  if (origin === null && !allowedHosts) return
  const target = parseRequestUrl(request.url)
  if (allowedHosts && !isAllowedHost(request, target, allowedHosts)) {
    throw invalidRequest(403, 'The host is not allowed')
  }
  if (origin !== null && !isAllowedOrigin(origin, target, options)) {
    throw invalidRequest(403, 'The origin is not allowed')
  }
}

function isAllowedHost(
  { headers }: Request,
  { host, hostname, username, password }: URL,
  allowed: readonly string[],
): boolean {
  // Some runtimes put the header `Host` into the URL unchecked, so that `user@other` changes the host of the URL
  if (username || password || !isAuthority(headers.get('host') ?? host)) return false
  // Most hosts are listed in the form that `URL` normalizes to, and parsing is slow
  if (allowed.some((allowedHost) => allowedHost === hostname)) return true
  return allowed.some((allowedHost) => parseUrl(`http://${allowedHost}`)?.hostname === hostname)
}

function isAllowedOrigin(
  origin: string,
  url: URL,
  { allowedOrigins = [] }: Pick<EndpointOptions, 'allowedOrigins'>,
): boolean {
  if (allowedOrigins === '*' || isOriginIn(allowedOrigins, origin)) return true
  const page = parseUrl(origin)
  if (!page || !/^https?:$/.test(page.protocol)) return false
  const isLocal = isLoopback(url.hostname)
  // With DNS rebinding, the attacker's page has the same host as the request, but cannot use https
  if (page.host === url.host) return isLocal || page.protocol === 'https:'
  return isLocal && isLoopback(page.hostname)
}
