/**
 * What the Worker found out about a caller, on its way to a session object. Nobody else can send an
 * object a request, so the header is as trustworthy as the Worker, which always sets or removes it.
 */

/** Who calls, as {@link WorkerOptions.identify} found out. */
export interface Identity {
  /** The authenticated subject; sessions and input rounds are bound to it. */
  readonly principal?: string | undefined
  /** Whatever else handlers need to know of the caller, as `ctx.auth`. Must survive JSON. */
  readonly auth?: unknown
}

const HEADER_CALLER = 'edgewise-caller'

/** The headers of a request, with who calls instead of what the client may have claimed. */
export function withIdentity(headers: Headers, { principal, auth }: Identity): Headers {
  const forwarded = new Headers(headers)
  // The Worker checked it, and answers the page itself.
  forwarded.delete('origin')
  if (principal === undefined && auth === undefined) forwarded.delete(HEADER_CALLER)
  else forwarded.set(HEADER_CALLER, encodeURIComponent(JSON.stringify({ principal, auth })))
  return forwarded
}

/** Who calls, in the object. */
export function readIdentity(headers: Headers): Identity {
  const text = headers.get(HEADER_CALLER)
  return text === null ? {} : (JSON.parse(decodeURIComponent(text)) as Identity)
}
