/**
 * Lets the pages that passed the origin check read the answers.
 *
 * @see https://fetch.spec.whatwg.org/#http-cors-protocol
 */

const ALLOWED_HEADERS = [
  'accept',
  'authorization',
  'content-type',
  'dpop',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
]
const EXPOSED_HEADERS =
  'mcp-session-id, mcp-protocol-version, www-authenticate, dpop-nonce, retry-after'

/** Answers a preflight request. */
export function preflightResponse(request: Request): Response {
  const asked = request.headers.get('access-control-request-headers')?.toLowerCase() ?? ''
  const params = asked
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name.startsWith('mcp-param-'))
  return new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-methods': 'GET, POST, DELETE, OPTIONS',
      'access-control-allow-headers': [...ALLOWED_HEADERS, ...params].join(', '),
      'access-control-max-age': '86400',
    },
  })
}

/** Adds what a page needs to read the answer. */
export function allowOrigin(response: Response, origin: string | null): Response {
  if (origin === null) return response
  response.headers.set('access-control-allow-origin', origin)
  response.headers.set('access-control-expose-headers', EXPOSED_HEADERS)
  response.headers.append('vary', 'origin')
  return response
}
