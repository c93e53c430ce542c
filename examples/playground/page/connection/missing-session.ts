/**
 * Explains that a server requires a session whose id the page has not received. Loaded on demand.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import { curl } from '../copy-as/curl.ts'
import type { Explanation, FailureContext } from '../explanation.ts'
import { relayedUrl } from './relay.ts'

/** What the server has to send to pages of other origins. */
const EXPOSE = 'Access-Control-Expose-Headers: Mcp-Session-Id, WWW-Authenticate'

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'curl', version: '1.0.0' },
  },
}

/** Explains the failure of a request to an endpoint. A page only sees the headers that CORS exposes to it. */
export function explainMissingSession(
  headline: string,
  url: string,
  { hasCredentials }: FailureContext,
): Explanation {
  // The requests of tests have no page
  const isOwnOrigin = globalThis.location?.origin === new URL(url).origin
  const headers = {
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
  }
  const variables = hasCredentials ? { Authorization: 'Bearer ${TOKEN}' } : {}
  const endpoint = isOwnOrigin ? (relayedUrl(url) ?? url) : url
  const request = curl(
    { url: endpoint, headers, variables, body: JSON.stringify(initialize) },
    '-sS -D - -o /dev/null',
  )
  const own = {
    why: 'The server requires a session, but its response to “initialize” has no “Mcp-Session-Id”.',
    advice: ['Have the server send this header. This command prints it once it is sent:'],
  }
  const foreign = {
    why: 'The server requires a session, but this page received no “Mcp-Session-Id”. Either the server does not send it in its response to “initialize”, or it does not let pages read it, for which it must also send this header:',
    lines: [EXPOSE],
    advice: [
      'If this command prints “mcp-session-id”, only the CORS header above is missing.',
      'If it prints no “mcp-session-id”, the server sends none: have it send one.',
    ],
  }
  return {
    headline,
    ...(isOwnOrigin ? own : foreign),
    command: `${request} | grep -i -e '^mcp-session-id' -e '^access-control-expose-headers'`,
  }
}
