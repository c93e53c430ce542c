/**
 * CORS headers for pages that passed the origin check.
 *
 * @see https://fetch.spec.whatwg.org/#http-cors-protocol
 */

const EXPOSED_HEADERS =
  'mcp-session-id, mcp-protocol-version, www-authenticate, dpop-nonce, retry-after'

/** The response to a preflight request: a page whose origin is allowed may send any header. */
export function preflightResponse({ headers }: Request): Response {
  return new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-methods': 'GET, POST, DELETE, OPTIONS',
      'access-control-allow-headers': headers.get('access-control-request-headers') ?? '',
      'access-control-max-age': '86400',
    },
  })
}

/** Adds the headers that a page needs to read the response. */
export function allowOrigin(response: Response, origin: string | null): Response {
  if (origin === null) return response
  response.headers.set('access-control-allow-origin', origin)
  response.headers.set('access-control-expose-headers', EXPOSED_HEADERS)
  response.headers.append('vary', 'origin')
  return response
}
