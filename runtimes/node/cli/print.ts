/**
 * What people read of results. Everything from a server is untrusted: control characters, which a
 * terminal would obey, are shown and not sent.
 */
import {
  isContentBlock,
  type CallToolResult,
  type ContentBlock,
  type ProgressParams,
} from '../../../src/index.ts'

/** Prints a line of text for people. */
export function print(text: string): void {
  process.stdout.write(`${safe(text)}\n`)
}

/** Says something to people beside the results: on standard error. */
export function tell(text: string): void {
  process.stderr.write(`${safe(text)}\n`)
}

/** Prints a value as JSON. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`)
}

/** Prints rows of a name and what it means. */
export function printRows(rows: readonly (readonly [name: string, meaning: string])[]): void {
  const width = Math.min(32, Math.max(0, ...rows.map(([name]) => name.length)))
  for (const [name, meaning] of rows) {
    const first = meaning.split('\n')[0] ?? ''
    print(first === '' ? `  ${name}` : `  ${name.padEnd(width)}  ${first}`)
  }
}

/** Prints what a tool gave; a failure goes to standard error. */
export function printResult({ content, structuredContent, isError }: CallToolResult): void {
  const lines = content.map(lineOf)
  if (structuredContent !== undefined && !content.some(({ type }) => type === 'text')) {
    lines.push(JSON.stringify(structuredContent, null, 2))
  }
  const text = lines.map((line) => `${safe(line)}\n`).join('')
  if (isError) process.stderr.write(text)
  else process.stdout.write(text)
}

/** One piece of content in a line, or the lines of its text; what is no content as JSON. */
export function lineOf(block: ContentBlock): string {
  if (!isContentBlock(block)) return JSON.stringify(block) ?? ''
  switch (block.type) {
    case 'text':
      return block.text
    case 'image':
    case 'audio':
      return `[${block.type} ${block.mimeType}, ${bytesOf(block.data)} bytes]`
    case 'resource_link':
      return `[${block.name}: ${block.uri}]`
    case 'resource': {
      const { resource } = block
      if ('text' in resource) return resource.text
      return `[${resource.uri}, ${bytesOf(resource.blob)} bytes]`
    }
  }
}

/** Shows on a terminal how far a call is, until it is cleared. */
export interface ProgressBar {
  show(progress: ProgressParams): void
  say(text: string): void
  clear(): void
}

/** Makes a line at the bottom of the terminal; where there is none, nothing is shown. */
export function progressBar(): ProgressBar {
  const { stderr } = process
  if (!stderr.isTTY) return { show: () => {}, say: () => {}, clear: () => {} }
  const say = (text: string): void => {
    const line = safe(text).replaceAll('\n', ' ')
    stderr.write(`\r\u001B[K${line.slice(0, Math.max(20, stderr.columns - 1))}`)
  }
  return {
    say,
    show({ progress, total, message = '' }) {
      const width = 24
      const done = total ? Math.min(width, Math.round((progress / total) * width)) : 0
      const bar = total ? `${'█'.repeat(done)}${'░'.repeat(width - done)} ` : ''
      const amount = total ? `${progress}/${total}` : `${progress}`
      say(`${bar}${amount} ${message}`)
    },
    clear: () => void stderr.write('\r\u001B[K'),
  }
}

/** Text with the control characters made visible, but for line ends and tabs. */
export function safe(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replace(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g, (char) => {
    return char === '\r' ? '' : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

function bytesOf(base64: string): number {
  return Buffer.from(base64, 'base64').byteLength
}
