/**
 * Origins and hosts as `URL` writes them, so that spellings of the same one are equal.
 *
 * @see https://html.spec.whatwg.org/multipage/browsers.html#ascii-serialisation-of-an-origin
 */

/** An origin without default port, path and capitals; what is not a URL, such as `null`, as it is. */
export function parseOrigin(text: string): string {
  if (!URL.canParse(text)) return text
  const { origin, protocol, host } = new URL(text)
  // Schemes that URLs know nothing of have no origin there
  return origin === 'null' ? `${protocol}//${host}` : origin
}

/** Whether an origin is one of those that an option names. */
export function isOriginIn(origins: readonly string[], origin: string): boolean {
  // Not by `includes`, which would find a part of a string that was given in place of a list
  return origins.some((one) => one === origin || parseOrigin(one) === parseOrigin(origin))
}

/** Whether a text is a host name or address, with or without a port, as in a `Host` header. */
export function isAuthority(text: string): boolean {
  return /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i.test(text)
}
