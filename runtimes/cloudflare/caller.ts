/**
 * What the Worker found out about a caller, on its way to a session object. Nobody else can send an
 * object a request, so the header is as trustworthy as the Worker, which always sets or removes it.
 */

import type { Auth } from '../../src/presets/server.ts'

/** Who calls, as {@link WorkerOptions.identify} found out. */
export interface Identity {
  /** The authenticated subject; sessions and input rounds are bound to it. */
  readonly principal?: string | undefined
  /** Whatever else handlers need to know of the caller, as `ctx.auth`. Must survive JSON. */
  readonly auth?: Auth | undefined
}

/** What travels to the object. */
interface Forwarded extends Identity {
  /** Whether a new session shares the object with others. */
  readonly shared?: boolean | undefined
}

const HEADER_CALLER = 'edgewise-caller'

/**
 * The request as the object gets it: with who calls, instead of what the client may have claimed.
 *
 * @param how.paged Whether a page sent it.
 * @param how.bare Whether credentials are left out: they were checked, and are nobody's business now.
 */
export function withIdentity(
  request: Request,
  { principal, auth, shared }: Forwarded,
  { paged, bare }: { paged: boolean; bare: boolean },
): Request {
  const text = JSON.stringify({ principal, auth, shared })
  // The object answers a GET with a socket, if it does not refuse it.
  const opens = request.method === 'GET'
  if (text === '{}' && !opens && !paged && !request.headers.has(HEADER_CALLER)) return request
  const headers = new Headers(request.headers)
  // The Worker checked it, and answers the page itself.
  headers.delete('origin')
  if (text === '{}') headers.delete(HEADER_CALLER)
  else headers.set(HEADER_CALLER, encodeURIComponent(text))
  if (bare) for (const name of ['authorization', 'dpop']) headers.delete(name)
  if (opens) headers.set('upgrade', 'websocket')
  return new Request(request, { headers })
}

/** Who calls, in the object. */
export function readIdentity(headers: Headers): Forwarded {
  const text = headers.get(HEADER_CALLER)
  return text === null ? {} : (JSON.parse(decodeURIComponent(text)) as Forwarded)
}
