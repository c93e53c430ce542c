/**
 * Quotes words for POSIX shells.
 *
 * @see https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html#tag_19_02
 */

/** Quotes a word, if it is necessary. */
export function quoteWord(word: string): string {
  return /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}

/** Quotes a word, in which the shell replaces references such as `${TOKEN}`. */
export function quoteReferences(word: string): string {
  if (!/\$\{[A-Za-z_]\w*\}/.test(word)) return quoteWord(word)
  const parts = word.split(/(\$\{[A-Za-z_]\w*\})/)
  const escaped = parts.map((part, index) =>
    index % 2 === 1 ? `$${part.slice(2, -1)}` : part.replaceAll(/["\\$`]/g, String.raw`\$&`),
  )
  return `"${escaped.join('')}"`
}
