/**
 * Shows a value as indented JSON with coloured tokens.
 *
 * @see https://www.rfc-editor.org/rfc/rfc8259
 */
import { el } from './dom.ts'

const tokens =
  /("(?:\\.|[^"\\])*")(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
/** Past this many characters colour costs more than it helps. */
const MAX_COLOURED = 100_000

/** A block with the value's JSON. */
export function jsonBlock(value: unknown): HTMLElement {
  const text = JSON.stringify(value, null, 2) ?? 'undefined'
  const code = el('code')
  if (text.length > MAX_COLOURED) code.append(text)
  else code.append(...colour(text))
  return el('pre', { class: 'json', tabindex: 0, role: 'group', 'aria-label': 'JSON' }, code)
}

/** The value of a JSON text; nothing when it is invalid. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function colour(text: string): (Node | string)[] {
  const parts: (Node | string)[] = []
  let end = 0
  for (const match of text.matchAll(tokens)) {
    const [token, string, colon] = match
    parts.push(text.slice(end, match.index))
    end = match.index + token.length
    const kind = string === undefined ? 'value' : colon === undefined ? 'string' : 'key'
    parts.push(el('span', { class: kind }, string ?? token), colon ?? '')
  }
  parts.push(text.slice(end))
  return parts
}
