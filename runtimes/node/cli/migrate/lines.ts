/** Positions of lines in the text of a source file. */

/** The start of the line that contains a position. */
export function lineStart(text: string, position: number): number {
  return text.lastIndexOf('\n', position - 1) + 1
}

/** The indentation of the line that contains a position. */
export function indentationAt(text: string, position: number): string {
  return /^[ \t]*/.exec(text.slice(lineStart(text, position)))?.[0] ?? ''
}
