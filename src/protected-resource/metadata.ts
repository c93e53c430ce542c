/**
 * The protected resource metadata, which lists the authorization servers that a server trusts.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9728#section-3
 */
import type { Settings } from './options.ts'

/**
 * Responds to a request for the metadata, without authentication; `undefined` for any other path.
 */
export function metadataResponse(
  { paths, metadata }: Settings,
  { url, method }: Request,
): Response | undefined {
  if (!url.includes('/.well-known/') || !paths.includes(new URL(url).pathname)) return undefined
  // The document is public, so any web page may read it
  const headers = {
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'GET, HEAD, OPTIONS',
    'access-control-allow-headers': '*',
  }
  if (method === 'OPTIONS') return new Response(null, { status: 204, headers })
  if (method !== 'GET' && method !== 'HEAD') {
    return new Response(null, { status: 405, headers: { ...headers, allow: 'GET, HEAD, OPTIONS' } })
  }
  return new Response(method === 'HEAD' ? null : metadata, {
    headers: { ...headers, 'content-type': 'application/json', 'cache-control': 'max-age=300' },
  })
}
