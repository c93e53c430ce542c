/**
 * The caller's identity, which the Worker forwards to a session object in the header `edgewise-caller`. Only
 * the Worker can send requests to the object, and it always sets or removes this header, so the header can
 * be trusted.
 */

import type { Caller } from '../../src/presets/server.ts'

/** What the header says about the caller. */
interface ForwardedCaller extends Pick<Caller, 'principal' | 'auth'> {
  /** Whether a new session shares the object with other sessions. */
  readonly shared?: boolean | undefined
}

const HEADER_CALLER = 'edgewise-caller'

/**
 * Creates the request for the object, with the header that contains the authenticated caller. A header of
 * this name that the client sent is removed.
 *
 * @param how.fromPage Whether the request comes from a web page, and therefore has an `Origin`.
 * @param how.hidden The headers to omit, because their credentials were already verified.
 */
export function withIdentity(
  request: Request,
  { principal, auth, shared }: ForwardedCaller,
  { fromPage, hidden }: { fromPage: boolean; hidden: readonly string[] },
): Request {
  const text = JSON.stringify({ principal, auth, shared })
  const isAnonymous = text === '{}'
  // The object responds to GET with a socket
  const opensStream = request.method === 'GET'
  // An anonymous request has no credentials to hide
  const needsNoChange =
    isAnonymous && !opensStream && !fromPage && !request.headers.has(HEADER_CALLER)
  if (needsNoChange) return request
  const headers = new Headers(request.headers)
  // The object does not need the origin: the Worker has checked it, and adds the CORS headers
  headers.delete('origin')
  if (isAnonymous) headers.delete(HEADER_CALLER)
  else headers.set(HEADER_CALLER, encodeURIComponent(text))
  for (const name of hidden) headers.delete(name)
  if (opensStream) headers.set('upgrade', 'websocket')
  return new Request(request, { headers })
}

/** Reads the caller's identity. The object calls this. */
export function readIdentity(headers: Headers): ForwardedCaller {
  const text = headers.get(HEADER_CALLER)
  return text === null ? {} : (JSON.parse(decodeURIComponent(text)) as ForwardedCaller)
}
