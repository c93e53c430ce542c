/**
 * Splits text that is too long for one row or one message.
 *
 * @see https://tc39.es/ecma262/#sec-ecmascript-language-types-string-type
 */

/**
 * Splits a text into one or more chunks. No chunk ends inside a surrogate pair, because each chunk
 * is encoded as UTF-8 separately.
 *
 * @param maxLength The maximum number of UTF-16 units in a chunk.
 */
export function chunkText(text: string, maxLength: number): string[] {
  const chunks: string[] = []
  let start = 0
  while (text.length - start > maxLength) {
    const lastUnit = text.charCodeAt(start + maxLength - 1)
    const splitsSurrogatePair = lastUnit >= 0xd800 && lastUnit <= 0xdbff
    const end = start + maxLength - (splitsSurrogatePair ? 1 : 0)
    chunks.push(text.slice(start, end))
    start = end
  }
  chunks.push(text.slice(start))
  return chunks
}
