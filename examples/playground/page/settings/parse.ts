/**
 * Parses the texts of the settings, which have one header or one URI in each line.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-5.1
 */
import type { Header } from './settings.ts'

/** A parsed text, or what is wrong with it. */
export type Parsed<T> = { readonly value: T } | { readonly problem: string }

/** The headers that the protocol itself sets. */
const RESERVED = /^(?:accept|content-type|last-event-id|mcp-.*)$/i

/** Parses lines of the form `Name: value`. */
export function parseHeaders(text: string): Parsed<Header[]> {
  const value: Header[] = []
  for (const line of linesOf(text)) {
    const [, name = '', content = ''] = /^([\w!#$%&'*+.^`|~-]+):\s*([^\0\r\n]+)$/.exec(line) ?? []
    if (name === '') return { problem: `“${line}” is not a header: write “Name: value”` }
    if (RESERVED.test(name)) return { problem: `The protocol itself sets the header “${name}”` }
    value.push({ name, value: content })
  }
  return { value }
}

/** Formats headers in the way that {@link parseHeaders} reads. */
export function formatHeaders(headers: readonly Header[]): string {
  return headers.map(({ name, value }) => `${name}: ${value}`).join('\n')
}

/** Parses lines with a `file:` URI each. */
export function parseRoots(text: string): Parsed<string[]> {
  const value = linesOf(text)
  const wrong = value.find((line) => !line.startsWith('file:///') || !URL.canParse(line))
  if (wrong === undefined) return { value }
  return { problem: `“${wrong}” is not a file URI: write “file:///home/ada/project”` }
}

/** Parses a timeout in milliseconds. An empty text stands for the default. */
export function parseTimeout(text: string): Parsed<number | undefined> {
  if (text.trim() === '') return { value: undefined }
  const value = Number(text)
  if (Number.isInteger(value) && value > 0) return { value }
  return { problem: `“${text}” is not a whole number of milliseconds above 0` }
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}
