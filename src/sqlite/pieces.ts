/**
 * Cuts text that is too long for one row or one message.
 *
 * @see https://tc39.es/ecma262/#sec-ecmascript-language-types-string-type
 */

/**
 * The pieces of a text, at least one. No cut is between the halves of a character, as each piece
 * becomes UTF-8 on its own.
 *
 * @param max The most UTF-16 units in a piece.
 */
export function cut(text: string, max: number): string[] {
  const pieces: string[] = []
  let at = 0
  while (text.length - at > max) {
    const last = text.charCodeAt(at + max - 1)
    const end = at + max - (last >= 0xd800 && last <= 0xdbff ? 1 : 0)
    pieces.push(text.slice(at, end))
    at = end
  }
  pieces.push(text.slice(at))
  return pieces
}
