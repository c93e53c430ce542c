/**
 * Discovery of an authorization server's signing keys.
 *
 * @see https://www.rfc-editor.org/rfc/rfc8414#section-3
 * @see https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderConfig
 */
import { isLoopback } from '../patterns/loopback.ts'
import { isObject } from '../protocol/validate.ts'
import type { FetchUrl } from './bounded-fetch.ts'

/** The possible metadata URLs of an issuer, most likely first. */
export function metadataUrls(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  const wellKnown = `${origin}/.well-known/`
  const urls = [
    `${wellKnown}oauth-authorization-server${path}`,
    `${wellKnown}openid-configuration${path}`,
  ]
  return path === '' ? urls : [...urls, `${origin}${path}/.well-known/openid-configuration`]
}

/**
 * Discovers the URL of an issuer's key set from its metadata.
 *
 * @throws {Error} If no metadata of this issuer names a trustworthy key set.
 */
export async function discoverKeySetUrl(issuer: string, fetch: FetchUrl): Promise<URL> {
  const attempts: string[] = []
  for (const url of metadataUrls(issuer)) {
    const response = await fetch(url, {
      headers: { accept: 'application/json' },
      redirect: 'manual',
    })
    const metadata: unknown = response.ok ? await response.json().catch(() => undefined) : undefined
    if (!response.ok) await response.body?.cancel()
    if (isObject(metadata) && metadata.issuer === issuer && typeof metadata.jwks_uri === 'string') {
      return requireSecure(metadata.jwks_uri)
    }
    attempts.push(`${url} (${response.status})`)
  }
  throw new Error(
    `No metadata names the keys of the issuer "${issuer}": tried ${attempts.join(', ')}`,
  )
}

/**
 * Parses a URL that must use HTTPS, so that its content can be trusted.
 *
 * @throws {TypeError} If it is not HTTPS, except on localhost.
 */
export function requireSecure(text: string): URL {
  const url = new URL(text)
  const { protocol, hostname } = url
  if (protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))) return url
  throw new TypeError(`"${text}" must be an https URL`)
}
