/**
 * Origins and hosts as normalized by `URL`, so that different spellings compare as equal.
 *
 * @see https://html.spec.whatwg.org/multipage/browsers.html#ascii-serialisation-of-an-origin
 */

import { parseUrl } from './url.ts'

let lastParsed: { readonly text: string; readonly url: URL } | undefined

/**
 * Parses the URL of a request. The last result is cached, because most requests to a server have
 * the same URL, and parsing it costs as much as parsing the message. Callers must not modify the
 * result.
 *
 * @throws {TypeError} If the URL is invalid.
 */
export function parseRequestUrl(text: string): URL {
  if (lastParsed?.text !== text) lastParsed = { text, url: new URL(text) }
  return lastParsed.url
}

/**
 * Normalizes an origin: removes the default port and the path, and converts it to lower case. A
 * text that is not a URL, such as `null`, is returned unchanged.
 */
export function parseOrigin(text: string): string {
  const url = parseUrl(text)
  // For schemes that `URL` does not know, the member `origin` is the text `null`
  return url?.origin === 'null' ? `${url.protocol}//${url.host}` : (url?.origin ?? text)
}

/** Whether a list of origins from an option contains an origin, in any spelling. */
export function isOriginIn(origins: readonly string[], origin: string): boolean {
  // Not `includes`, which would match a substring if a string was given in place of a list
  return origins.some(
    (allowed) => allowed === origin || parseOrigin(allowed) === parseOrigin(origin),
  )
}

/** Whether a text is a host name or address, with or without a port, as in a `Host` header. */
export function isAuthority(text: string): boolean {
  return /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i.test(text)
}
