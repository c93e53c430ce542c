/**
 * What the Worker found out about a caller, on its way to a session object. Nobody else can send an
 * object a request, so the header is as trustworthy as the Worker, which always sets or removes it.
 */

import type { Caller } from '../../src/presets/server.ts'

/** What travels to the object. */
interface Forwarded extends Pick<Caller, 'principal' | 'auth'> {
  /** Whether a new session shares the object with others. */
  readonly shared?: boolean | undefined
}

const HEADER_CALLER = 'edgewise-caller'

/**
 * The request as the object gets it: with who calls, instead of what the client may have claimed.
 *
 * @param how.fromPage Whether a page sent it.
 * @param how.hidden The headers to leave out: the credentials in them were checked already.
 */
export function withIdentity(
  request: Request,
  { principal, auth, shared }: Forwarded,
  { fromPage, hidden }: { fromPage: boolean; hidden: readonly string[] },
): Request {
  const text = JSON.stringify({ principal, auth, shared })
  // The object answers a GET with a socket, if it does not refuse it.
  const opens = request.method === 'GET'
  if (text === '{}' && !opens && !fromPage && !request.headers.has(HEADER_CALLER)) return request
  const headers = new Headers(request.headers)
  // The Worker checked it, and answers the page itself.
  headers.delete('origin')
  if (text === '{}') headers.delete(HEADER_CALLER)
  else headers.set(HEADER_CALLER, encodeURIComponent(text))
  for (const name of hidden) headers.delete(name)
  if (opens) headers.set('upgrade', 'websocket')
  return new Request(request, { headers })
}

/** Who calls, in the object. */
export function readIdentity(headers: Headers): Forwarded {
  const text = headers.get(HEADER_CALLER)
  return text === null ? {} : (JSON.parse(decodeURIComponent(text)) as Forwarded)
}
