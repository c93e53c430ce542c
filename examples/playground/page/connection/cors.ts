/**
 * Explains a response that the browser blocks, with the headers that allow it. Loaded on demand.
 *
 * @see https://fetch.spec.whatwg.org/#http-cors-protocol
 */
import { BLOCKED } from '../errors.ts'
import type { Explanation } from '../explanation.ts'

/** The names of headers that requests of this page have, in every revision. */
const REQUEST_HEADERS = [
  'Authorization',
  'Content-Type',
  'Last-Event-ID',
  'Mcp-Method',
  'Mcp-Name',
  'Mcp-Protocol-Version',
  'Mcp-Session-Id',
]
/** Headers that every page may send. */
const SAFE = ['accept', 'accept-language', 'content-language']

/** What is known about a blocked response. */
export interface BlockedResponse {
  /** The origin of the page. */
  readonly origin: string
  /** The names of the headers of the request, in lower case. */
  readonly requested: readonly string[]
  /** The names of the headers of the requests whose responses the page could read. */
  readonly allowed: ReadonlySet<string>
}

/** Explains why the page cannot read a response. */
export function explainBlocked({ origin, requested, allowed }: BlockedResponse): Explanation {
  const names = requested.filter((name) => !SAFE.includes(name)).map(capitalize)
  const added = names.filter((name) => !allowed.has(name.toLowerCase()))
  const all = [...new Set([...REQUEST_HEADERS, ...names])]
  const wasAllowed = allowed.size > 0 && added.length > 0
  return {
    headline: BLOCKED,
    why: wasAllowed
      ? `An earlier request succeeded. The failed request also has the ${added.length > 1 ? 'headers' : 'header'} ${added.join(' and ')}, which the server does not allow.`
      : `The server does not allow pages of ${origin} to send these requests and to read the responses.`,
    lines: [
      `Access-Control-Allow-Origin: ${origin}`,
      'Access-Control-Allow-Methods: GET, POST, DELETE',
      `Access-Control-Allow-Headers: ${all.join(', ')}`,
      'Access-Control-Expose-Headers: Mcp-Session-Id, WWW-Authenticate',
    ],
    advice: [
      'Have the server send these headers in every response, and answer OPTIONS requests with a status from 200 to 299 and the same headers. In Edgewise, set “allowedOrigins”.',
      'If the server allows this page already, check the path: an endpoint often ends in /mcp.',
      'Or run “npx edgewise inspect” with this address: it forwards the requests, so that no such rules apply.',
    ],
  }
}

/** Spells the name of a header as it is usually written. */
function capitalize(name: string): string {
  const known = REQUEST_HEADERS.find((each) => each.toLowerCase() === name)
  return known ?? name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase())
}
