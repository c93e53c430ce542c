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
  nodes.push(...advice.map((each) => el('p', { class: 'note' }, each)))
  if ((error instanceof ProtocolError || error instanceof McpError) && error.data !== undefined) {
    nodes.push(jsonBlock(error.data))
  }
  return nodes
}

/** The error in one line. */
export function summary(error: unknown): string {
  if (error instanceof ProtocolError) return `${error.message} (${error.code})`
  // What the browser threw tells a person nothing; the console has it.
  if (error instanceof McpError) return error.message.replace(`: ${String(error.cause)}`, '')
  return error instanceof Error ? error.message : String(error)
}

/** What to try next. */
export function adviceOn(error: unknown): string[] {
  if (!(error instanceof McpError)) return []
  switch (error.code) {
    case 'NETWORK':
      // A browser does not tell a page which of these it was.
      return [
        'The server may not be running at that address.',
        `It may not allow calls from ${location.origin}: its answers need CORS headers.`,
        ...(location.protocol === 'https:'
          ? ['A page on https cannot call an endpoint on http, except on this machine.']
          : []),
      ]
    case 'HTTP':
      return ['The address may be another page of that site: an endpoint often ends in /mcp.']
    case 'UNAUTHORIZED':
      return ['The server wants you to sign in: press “Connect”.']
    case 'FORBIDDEN':
      return ['You are signed in, but may not do this here.']
    case 'VERSION_MISMATCH':
      return ['Choose “Auto”, or a revision that the server speaks.']
    case 'TIMEOUT':
      return ['The server took too long. “Wire” shows what came so far.']
    default:
      return []
  }
}
