/**
 * Origins and hosts as normalized by `URL`, so that different spellings compare as equal.
 *
 * @see https://html.spec.whatwg.org/multipage/browsers.html#ascii-serialisation-of-an-origin
 */

let last: { readonly text: string; readonly url: URL } | undefined

/**
 * Parses the URL of a request. Most requests to a server have the same one, and parsing it costs as
 * much as parsing the message, so the last one is kept: do not change it.
 *
 * @throws {TypeError} If it is invalid.
 */
export function parseRequestUrl(text: string): URL {
  if (last?.text !== text) last = { text, url: new URL(text) }
  return last.url
}

/**
 * An origin without default port, path and capitals; a text that is not a URL, such as `null`, is
 * returned unchanged.
 */
export function parseOrigin(text: string): string {
  if (!URL.canParse(text)) return text
  const { origin, protocol, host } = new URL(text)
  // For schemes that `URL` does not know, its origin is `null`
  return origin === 'null' ? `${protocol}//${host}` : origin
}

/** Whether an origin is one of those that an option names. */
export function isOriginIn(origins: readonly string[], origin: string): boolean {
  // `includes` would match a substring if a string was given in place of a list
  return origins.some((one) => one === origin || parseOrigin(one) === parseOrigin(origin))
}

/** Whether a text is a host name or address, with or without a port, as in a `Host` header. */
export function isAuthority(text: string): boolean {
  return /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i.test(text)
}
