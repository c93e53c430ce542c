/**
 * Which URLs may be used: a card or a catalog names them, so none of them is trusted.
 *
 * @see https://github.com/modelcontextprotocol/experimental-ext-server-card/blob/main/docs/discovery.md#security-considerations
 */
import { isLoopback } from '../patterns/loopback.ts'
import { isPrivateHost } from '../patterns/private-hosts.ts'
import { SdkError } from '../protocol/errors.ts'
import { parseUrl } from '../patterns/url.ts'

/** Decides whether a URL may be used, for example by asking the user. */
export type AllowUrl = (url: URL) => boolean | Promise<boolean>

/**
 * Whether a host is public, and its name equals a domain or is below it. The owner of a domain controls
 * all names below it.
 */
export function isWithinDomain(hostname: string, domain: string): boolean {
  const isInside = hostname === domain || hostname.endsWith(`.${domain}`)
  return isInside && !isPrivateHost(hostname)
}

/**
 * Checks a URL before it is used. It must use HTTPS, or HTTP to a loopback host, contain no credentials,
 * and be allowed.
 *
 * @param allowUrl By default, public hosts within the domain are allowed.
 * @throws {SdkError} `DENIED`
 */
export async function requireAllowed(
  text: string,
  domain: string,
  allowUrl: AllowUrl = ({ hostname }) => isWithinDomain(hostname, domain),
): Promise<URL> {
  const denied = (reason: string): SdkError => {
    const data = { step: 'address', url: text }
    return new SdkError('DENIED', `"${text}" may not be used: ${reason}`, { data })
  }
  const url = parseUrl(text)
  if (!url) throw denied('it is not an absolute URL')
  if (url.username || url.password) throw denied('it contains credentials')
  const isLocal = url.protocol === 'http:' && isLoopback(url.hostname)
  if (url.protocol !== 'https:' && !isLocal) throw denied('it is not HTTPS')
  if (await allowUrl(url)) return url
  throw denied(`"${url.host}" is not a public host of "${domain}"; allow it with "allowUrl"`)
}
