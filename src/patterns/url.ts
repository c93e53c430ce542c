/** Parses URLs of others. */

/**
 * Parses a URL; `undefined` if it is invalid.
 *
 * In place of `URL.canParse`, which Node 20 answers wrongly for text with letters such as "ü" once a
 * program has called it some thousand times.
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
