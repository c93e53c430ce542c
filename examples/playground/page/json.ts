/**
 * Shows a value as indented JSON with colored tokens.
 *
 * @see https://www.rfc-editor.org/rfc/rfc8259
 */
import { el } from './dom.ts'

const tokens =
  /("(?:\\.|[^"\\])*")(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
/** The maximum length of colored text, in characters. Coloring longer text would be slow. */
const MAX_COLORED = 100_000

/** Creates a block with the JSON of a value. */
export function jsonBlock(value: unknown): HTMLElement {
  const text = JSON.stringify(value, null, 2) ?? 'undefined'
  const code = el('code')
  if (text.length > MAX_COLORED) code.append(text)
  else code.append(...colorTokens(text))
  return el('pre', { class: 'json', tabindex: 0, role: 'group', 'aria-label': 'JSON' }, code)
}

/** Parses JSON. Returns `undefined` if the text is invalid. */
export function tryParse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function colorTokens(text: string): (Node | string)[] {
  const parts: (Node | string)[] = []
  let end = 0
  for (const match of text.matchAll(tokens)) {
    const [token, string, colon] = match
    parts.push(text.slice(end, match.index))
    end = match.index + token.length
    const stringKind = colon === undefined ? 'string' : 'key'
    const kind = string === undefined ? 'value' : stringKind
    parts.push(el('span', { class: kind }, string ?? token), colon ?? '')
  }
  parts.push(text.slice(end))
  return parts
}
