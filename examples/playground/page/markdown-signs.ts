/**
 * Recognizes text that is Markdown.
 *
 * @see https://spec.commonmark.org/0.31.2/
 */

// The time to match each of these is linear in the length of a text

/** Syntax that plain text rarely contains by chance. */
const strongSigns = [
  /^#{1,6} \S.*$/m, // A heading
  /^(?:```|~~~)/m, // A code block
  /^\|.*\|[ \t]*\n\|(?:[ \t]*:?-+:?[ \t]*\|)+/m, // A table
]
/** Syntax that plain text may contain once. */
const weakSigns = [
  /^[ \t]*(?:[-*+]|\d+[.)]) \S/m, // A list
  /\[[^[\]\n]+\]\([^()\s]+[()]/, // A link
  /\*\*[^*\n]+\*\*/, // Strong emphasis
  /(?<!`)`[^`\n]+`(?!`)/, // Code
  /^> \S/m, // A quotation
]

/** Whether a text is to be rendered as Markdown. */
export function isMarkdown(text: string, mimeType: string): boolean {
  const [type = ''] = mimeType.split(';')
  if (/^text\/(?:x-)?markdown$/i.test(type.trim())) return true
  if (type !== '' && type.trim() !== 'text/plain') return false
  const isSigned = (sign: RegExp): boolean => sign.test(text)
  return strongSigns.some(isSigned) || weakSigns.filter(isSigned).length > 1
}
