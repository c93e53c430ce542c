/**
 * Explains a response that the browser blocks, with the headers that allow it. Loaded on demand.
 *
 * @see https://fetch.spec.whatwg.org/#http-cors-protocol
 */
import { BLOCKED, INSPECT } from '../errors.ts'
import type { Explanation } from '../explanation.ts'
import type { Timeline } from '../timeline/timeline.ts'

/** The names of headers that requests of this page have, in every revision. */
const REQUEST_HEADERS = [
  'Authorization',
  'Content-Type',
  'Last-Event-ID',
  'Mcp-Method',
  'Mcp-Name',
  'MCP-Protocol-Version',
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
  /**
   * The names of the headers that the server does not allow, in lower case; `undefined` if the page cannot read a
   * response to a request without them either.
   */
  readonly missing: readonly string[] | undefined
}

/** Explains why the page cannot read a response. */
export function explainBlocked({ origin, requested, missing }: BlockedResponse): Explanation {
  const names = requested.filter((name) => !SAFE.includes(name)).map(capitalize)
  const all = [...new Set([...REQUEST_HEADERS, ...names])]
  const origins = `Access-Control-Allow-Origin: ${origin}`
  const headers = `Access-Control-Allow-Headers: ${all.join(', ')}`
  const methods = 'Access-Control-Allow-Methods: GET, POST, DELETE'
  const exposed = 'Access-Control-Expose-Headers: Mcp-Session-Id, WWW-Authenticate'
  if (missing === undefined) {
    return {
      headline: BLOCKED,
      why: `The response has no “Access-Control-Allow-Origin” that allows pages of ${origin}.`,
      lines: [origins, methods, headers, exposed],
      advice: [EVERY_RESPONSE, CHECK_PATH, INSPECT],
    }
  }
  if (missing.length === 0) {
    return {
      headline: BLOCKED,
      why: `The server allows the headers of the request, but this response has no “Access-Control-Allow-Origin” that allows pages of ${origin}.`,
      lines: [origins],
      advice: ['Have the server send this header in every response, also in errors.', INSPECT],
    }
  }
  // The preflight of each request names this header, so all of them fail
  if (missing.includes('content-type')) {
    return {
      headline: BLOCKED,
      why: `The response to the preflight request (OPTIONS) does not allow pages of ${origin} to send JSON, although other responses allow them.`,
      lines: [origins, methods, headers],
      advice: [PREFLIGHT, INSPECT],
    }
  }
  const list = missing.map(capitalize).join(', ')
  return {
    headline: BLOCKED,
    why: `The server allows pages of ${origin}, but its “Access-Control-Allow-Headers” does not list ${list}.`,
    lines: [headers],
    advice: ['Have the server send this header in its responses to OPTIONS requests.', INSPECT],
  }
}

const PREFLIGHT =
  'Have the server answer OPTIONS requests with a status from 200 to 299 and these headers. In Edgewise, set “allowedOrigins”.'
const EVERY_RESPONSE =
  'Have the server send these headers in every response, and answer OPTIONS requests with a status from 200 to 299 and the same headers. In Edgewise, set “allowedOrigins”.'
const CHECK_PATH =
  'If the server allows this page already, check the path: an endpoint often ends in /mcp.'

/** How long the test of one header may take, in milliseconds. */
const TEST_TIMEOUT_MS = 5_000

/** Finds out which headers the server does not allow, and explains why the page cannot read its response. */
export async function diagnoseBlocked(
  url: string,
  timeline: Timeline,
  requested: readonly string[],
): Promise<Explanation> {
  const { blockedHeaders, PING } = await import('#internal/check')
  const check = timeline.beginCheck('CORS test')
  const missing = await blockedHeaders((headers) => {
    const signal = AbortSignal.timeout(TEST_TIMEOUT_MS)
    const send = check.observe((target, init) => fetch(target, init))
    // A text of the type "text/plain" needs no preflight
    return send(url, { method: 'POST', body: JSON.stringify(PING), headers, signal })
  })
  check.end(missing?.length === 0 ? 'all headers are allowed' : 'blocked', true)
  return explainBlocked({ origin: location.origin, requested, missing })
}

/** Spells the name of a header as it is usually written. */
function capitalize(name: string): string {
  const known = REQUEST_HEADERS.find((each) => each.toLowerCase() === name)
  return known ?? name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase())
}
