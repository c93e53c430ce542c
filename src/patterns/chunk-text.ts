/**
 * Splits text that is too long for one row or one message.
 *
 * @see https://tc39.es/ecma262/#sec-ecmascript-language-types-string-type
 */

/**
 * The chunks of a text, at least one. None ends between the halves of a character, as each becomes
 * UTF-8 on its own.
 *
 * @param max The maximum number of UTF-16 units in a chunk.
 */
export function chunkText(text: string, max: number): string[] {
  const chunks: string[] = []
  let at = 0
  while (text.length - at > max) {
    const last = text.charCodeAt(at + max - 1)
    const end = at + max - (last >= 0xd800 && last <= 0xdbff ? 1 : 0)
    chunks.push(text.slice(at, end))
    at = end
  }
  chunks.push(text.slice(at))
  return chunks
}
