/** Positions of lines in the text of a source file. */

/** The position at which the line of a position starts. */
export function lineStart(text: string, position: number): number {
  return text.lastIndexOf('\n', position - 1) + 1
}

/** The indentation of the line of a position. */
export function indentationAt(text: string, position: number): string {
  return /^[ \t]*/.exec(text.slice(lineStart(text, position)))?.[0] ?? ''
}
