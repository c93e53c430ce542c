/**
 * Says in words what went wrong, and what a person can do about it.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#error-codes
 */
import { McpError, ProtocolError } from 'edgewise/browser'
import { el } from './dom.ts'
import { jsonBlock } from './json.ts'

/** The error's message, code, data and some advice. */
export function explain(error: unknown): Node[] {
  const nodes: Node[] = [el('p', { class: 'text' }, summary(error))]
  const advice = adviceOn(error)
  if (advice) nodes.push(el('p', { class: 'note' }, advice))
  if ((error instanceof ProtocolError || error instanceof McpError) && error.data !== undefined) {
    nodes.push(jsonBlock(error.data))
  }
  return nodes
}

/** The error in one line. */
export function summary(error: unknown): string {
  if (error instanceof ProtocolError || error instanceof McpError) {
    return `${error.message} (${error.code})`
  }
  return error instanceof Error ? error.message : String(error)
}

/** What to try next. */
export function adviceOn(error: unknown): string | undefined {
  if (!(error instanceof McpError)) return undefined
  switch (error.code) {
    case 'NETWORK':
      return 'Is the server running, does it allow this page’s origin (CORS), and is an https page calling an https endpoint? A browser does not say which.'
    case 'VERSION_MISMATCH':
      return 'Choose “Auto”, or a revision that the server speaks.'
    case 'TIMEOUT':
      return 'The server took too long. The Wire tab shows what came so far.'
    default:
      return undefined
  }
}
