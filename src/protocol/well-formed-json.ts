/**
 * JSON text that every peer can parse: strict parsers reject a whole message because of a single lone
 * surrogate, such as half of a truncated emoji.
 *
 * @see https://tc39.es/proposal-well-formed-stringify/
 */

/** `JSON.stringify` with U+FFFD in place of each lone surrogate, in strings and in keys. */
export function wellFormedJson(value: unknown): string {
  const text = JSON.stringify(value)
  // JSON.stringify escapes lone surrogates, and produces no other escape that starts with `\ud`
  if (!text.includes('\\ud')) return text
  // An escaped backslash is matched as well, and kept, so that text such as `\\ud` is not taken for an escape
  return text.replace(
    /(\\\\)|\\ud.../g,
    (_, backslash: string | undefined) => backslash ?? '\ufffd',
  )
}
