/** Parses URLs that may be invalid. */

/**
 * Parses a URL; `undefined` if it is invalid.
 *
 * Does not use `URL.canParse`: after a few thousand calls, Node 20 returns wrong results for text with
 * letters such as "ü".
 *
 * @param base The URL that a relative reference is resolved against.
 */
export function parseUrl(text: string, base?: string | URL): URL | undefined {
  try {
    return new URL(text, base)
  } catch {
    return undefined
  }
}
