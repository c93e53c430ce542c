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

/** What travels to the object. */
interface Forwarded extends Identity {
  /** Whether a new session shares the object with others. */
  readonly shared?: boolean | undefined
}

const HEADER_CALLER = 'edgewise-caller'

/** The headers of a request, with who calls instead of what the client may have claimed. */
export function withIdentity(headers: Headers, { principal, auth, shared }: Forwarded): Headers {
  const forwarded = new Headers(headers)
  // The Worker checked it, and answers the page itself.
  forwarded.delete('origin')
  const text = JSON.stringify({ principal, auth, shared })
  if (text === '{}') forwarded.delete(HEADER_CALLER)
  else forwarded.set(HEADER_CALLER, encodeURIComponent(text))
  return forwarded
}

/** Who calls, in the object. */
export function readIdentity(headers: Headers): Forwarded {
  const text = headers.get(HEADER_CALLER)
  return text === null ? {} : (JSON.parse(decodeURIComponent(text)) as Forwarded)
}
