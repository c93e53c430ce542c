/**
 * Prints results for people. All text from a server is untrusted. So that it cannot imitate other output, control
 * characters and invisible characters are escaped, and names are printed on one line.
 *
 * @see https://www.unicode.org/reports/tr36/
 */
import { isContentBlock } from '#internal/protocol'
import type { CallToolResult, ContentBlock, ProgressParams } from '../../../src/index.ts'

/** The maximum width of the column of names, in characters. */
const MAX_NAME_WIDTH = 32

/** The width of a progress bar, and the minimum width of its line, in characters. */
const BAR_WIDTH = 24
const MIN_LINE_WIDTH = 20

/** Moves the cursor to the beginning of the line of a terminal, and clears the line. */
const CLEAR_LINE = '\r\u001B[K'

/** Prints text for people, which may have several lines. */
export function print(text: string): void {
  process.stdout.write(`${safe(text)}\n`)
}

/** Prints a line for people to standard error, apart from the results. */
export function printNotice(text: string): void {
  process.stderr.write(`${oneLine(text)}\n`)
}

/** Creates an `onError` hook that prints problems, if the user wants to see them. */
export function problemPrinter(isVerbose: boolean): (error: unknown) => void {
  return (error) => {
    if (isVerbose) printNotice(`Problem: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Prints a value as JSON. */
export function printJson(value: unknown): void {
  // `print` escapes the control characters that JSON allows without an escape, which does not change the value
  print(JSON.stringify(value, null, 2))
}

/** Prints a table. Each row shows a name and the first line of its meaning. */
export function printRows(rows: readonly (readonly [name: string, meaning: string])[]): void {
  const safeRows = rows.map(([name, meaning]) => [oneLine(name), meaning] as const)
  const width = Math.min(MAX_NAME_WIDTH, Math.max(0, ...safeRows.map(([name]) => name.length)))
  for (const [name, meaning] of safeRows) {
    const firstLine = meaning.split(/\r?\n/)[0] ?? ''
    print(firstLine === '' ? `  ${name}` : `  ${name.padEnd(width)}  ${firstLine}`)
  }
}

/** Prints the result of a tool. If the tool failed, prints it to standard error. */
export function printResult({ content, structuredContent, isError }: CallToolResult): void {
  const lines = content.map(textOf)
  if (structuredContent !== undefined && !content.some(({ type }) => type === 'text')) {
    lines.push(JSON.stringify(structuredContent, null, 2))
  }
  const text = lines.map((line) => `${safe(line)}\n`).join('')
  if (isError) process.stderr.write(text)
  else process.stdout.write(text)
}

/**
 * Formats a content block. Returns text unchanged. Returns an image, a sound, a link or a binary resource as one line,
 * and a block of an unknown type as JSON.
 */
export function textOf(block: ContentBlock): string {
  if (!isContentBlock(block)) return JSON.stringify(block) ?? ''
  switch (block.type) {
    case 'text':
      return block.text
    case 'image':
    case 'audio':
      return oneLine(`[${block.type} ${block.mimeType}, ${byteLengthOf(block.data)} bytes]`)
    case 'resource_link':
      return oneLine(`[${block.name}: ${block.uri}]`)
    case 'resource': {
      const { resource } = block
      if ('text' in resource) return resource.text
      return oneLine(`[${resource.uri}, ${byteLengthOf(resource.blob)} bytes]`)
    }
  }
}

/** A line of a terminal that shows the progress of a call. */
export interface ProgressBar {
  show(progress: ProgressParams): void
  /** Shows a text in place of the progress. */
  render(text: string): void
  clear(): void
}

/** Creates a progress bar on the terminal's last line. Without a terminal, nothing is shown. */
export function progressBar(): ProgressBar {
  const { stderr } = process
  if (!stderr.isTTY) return { show: () => {}, render: () => {}, clear: () => {} }
  const render = (text: string): void => {
    const line = safe(text.replace(/\s+/g, ' '))
    stderr.write(CLEAR_LINE + line.slice(0, Math.max(MIN_LINE_WIDTH, stderr.columns - 1)))
  }
  return {
    render,
    show({ progress, total, message = '' }) {
      const share = total ? Math.min(1, progress / total) : 0
      const filledWidth = Math.round(share * BAR_WIDTH)
      const bar = `${'█'.repeat(filledWidth)}${'░'.repeat(BAR_WIDTH - filledWidth)} `
      render(total ? `${bar}${progress}/${total} ${message}` : `${progress} ${message}`)
    },
    clear: () => void stderr.write(CLEAR_LINE),
  }
}

/**
 * Matches line separators, invisible characters such as direction marks, fillers and tags, and all control characters
 * except line feeds and tabs. Joiners and variation selectors are left to the next two expressions.
 */
const INVISIBLE =
  /(?!\n|\t|\u200C|\u200D|\uFE0E|\uFE0F)[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\uFFF9-\uFFFB]/u
/** Matches joiners that neither a script nor an emoji needs. */
const NEEDLESS_JOINER =
  /(?<!\p{Extended_Pictographic}|\p{Emoji_Modifier}|\uFE0F|\p{Script=Arabic}|\p{M})(?:\u200C|\u200D)/u
/** Matches variation selectors that do not follow an emoji. */
const NEEDLESS_SELECTOR = /(?<!\p{Emoji})(?:\uFE0E|\uFE0F)/u
/** Matches the characters to escape. */
const UNSAFE = new RegExp(
  `${INVISIBLE.source}|${NEEDLESS_JOINER.source}|${NEEDLESS_SELECTOR.source}`,
  'gu',
)

/** Escapes control characters and invisible characters, as in JSON. */
export function safe(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(UNSAFE, escapeCodeUnits)
}

/** Escapes the same characters as {@link safe}, and also line ends and tabs, so that the text is one line. */
export function oneLine(text: string): string {
  return safe(text).replace(/[\n\t]/g, escapeCodeUnits)
}

/** Indents all lines except the first, so that they cannot imitate other output. */
export function indented(text: string): string {
  return text.replace(/\r?\n/g, '\n    ')
}

function escapeCodeUnits(text: string): string {
  return text
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
}

function byteLengthOf(base64: string): number {
  return Buffer.from(base64, 'base64').byteLength
}
