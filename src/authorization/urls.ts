/**
 * Which URLs signing in may use. Servers name them, so none is trusted.
 *
 * @see https://modelcontextprotocol.io/docs/2026-07-28/tutorials/security/security_best_practices
 */
import { isLoopback } from '../patterns/loopback.ts'
import { AuthorizationError, type AuthorizationStep } from './errors.ts'

/**
 * Hosts that are nobody's on the Internet: loopback, private, link-local, reserved and test
 * addresses, other special-purpose ranges, the metadata services and private endpoints of clouds that
 * have addresses like any other, IPv6 addresses that wrap others or are not global, local names, names
 * without a dot. URLs have addresses in their plain spelling.
 *
 * @see https://www.iana.org/assignments/iana-ipv4-special-registry
 * @see https://www.iana.org/assignments/iana-ipv6-special-registry
 */
const PRIVATE =
  /^(?:(?:0|10|127|169\.254|192\.168|172\.(?:1[6-9]|2\d|3[01])|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])|192\.(?:0\.[02]|31\.196|52\.193|80\.8(?=\.124$)|88\.99|175\.48)|161\.26|166\.(?:[89]|1[01])|168\.63\.129(?=\.16$)|198\.1[89]|198\.51\.100|203\.0\.113|22[4-9]|2[3-5]\d)\.[\d.]+|\[(?:(?![23][\da-f]{3}:)|2001:(?::|1?[\da-f]{1,2}:|db8:)|2002:|2620:4f:8000:|3fff:).*|[^.[]+\.?|.*\.(?:localhost|local|localdomain|internal|intranet|private|home\.arpa|home|lan|corp|svc)\.?)$/

/** Whether a host, as `URL` gives it, cannot be one of the Internet. Names are not looked up. */
export function isPrivateHost(hostname: string): boolean {
  return PRIVATE.test(hostname)
}

/** Decides on a URL that a server named. */
export type UrlPolicy = (url: URL) => boolean | Promise<boolean>

/**
 * Checks a URL before it is used: HTTPS, or HTTP to this machine, without a user's name, and as the
 * policy wants it.
 *
 * @throws {AuthorizationError}
 */
export async function checkUrl(
  value: unknown,
  what: string,
  step: AuthorizationStep,
  allowed: UrlPolicy,
): Promise<URL> {
  const url = typeof value === 'string' ? parseUrl(value) : undefined
  const secure = url && (url.protocol === 'https:' || isLocalHttp(url))
  if (!secure || url.username || url.password || url.hash || !(await allowed(url))) {
    throw new AuthorizationError(step, `The ${what} "${String(value)}" may not be used`)
  }
  return url
}

/** Whether a URL is plain HTTP to this machine. */
export function isLocalHttp(url: URL): boolean {
  return url.protocol === 'http:' && isLoopback(url.hostname)
}

/** The URL that a text is, if it is one. */
export function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined
}
