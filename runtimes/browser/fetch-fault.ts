/**
 * Finds out why a request failed, as far as a page can, because browsers do not tell scripts the reason.
 *
 * @see https://fetch.spec.whatwg.org/#concept-network-error
 */
import { isBrowserLoopback, sleep } from '#internal/patterns'

/** Why a request failed. */
export type FetchFaultKind =
  /** This device has no network. */
  | 'offline'
  /** A secure page may not request an insecure URL. */
  | 'mixed-content'
  /** The page's own Content-Security-Policy forbids the request. */
  | 'csp'
  /** The server responds, but does not allow pages of this origin to read the response. */
  | 'cors'
  /** No server responds. The name or port may be wrong, the connection refused, or the certificate invalid. */
  | 'unreachable'

/**
 * The error for a request that got no response, with advice.
 *
 * @see https://fetch.spec.whatwg.org/#concept-network-error
 */
export class FetchFault extends TypeError {
  /** Why the request failed. */
  readonly kind: FetchFaultKind
  /** How to fix the problem, for the page's developer or operator. */
  readonly advice: string

  constructor(kind: FetchFaultKind, message: string, advice: string, cause: unknown) {
    super(`${message}. ${advice}`, { cause })
    this.name = 'FetchFault'
    this.kind = kind
    this.advice = advice
  }
}

/** The maximum number of causes of an error that are searched. */
const MAX_CAUSES = 10

/** Finds the {@link FetchFault} among the causes of an error; `undefined` if there is none. */
export function fetchFaultOf(error: unknown): FetchFault | undefined {
  let current = error
  for (let depth = 0; current instanceof Error && depth < MAX_CAUSES; depth++) {
    if (current instanceof FetchFault) return current
    current = current.cause
  }
  return undefined
}

/** Sends a request. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** Calls the global `fetch` at the time of the request, because the application may replace it. */
export const plainFetch: Fetch = (url, init) => fetch(url, init)

/** Creates a `fetch` whose requests without a response reject with a {@link FetchFault}. */
export function explainedFetch(send: Fetch = plainFetch): Fetch {
  watchPolicy()
  return async (url, init) => {
    try {
      return await send(url, init)
    } catch (cause) {
      if (init.signal?.aborted) throw cause
      throw await findFetchFault({ url, headers: new Headers(init.headers), cause, fetch: send })
    }
  }
}

/** How long the probe waits for any response of the server, in milliseconds. */
const PROBE_MS = 3_000
/** Headers that need no CORS preflight. */
const SAFE_HEADERS = ['accept', 'accept-language', 'content-language']

/** The facts about a failed request. */
interface FailedRequest {
  readonly url: string
  readonly headers: Headers
  /** What `fetch` rejected with. */
  readonly cause: unknown
  /** Sends the probe request. */
  readonly fetch: Fetch
}

/**
 * Determines why a request failed. May send one more request, without credentials and with an
 * opaque response, to find out whether the server responds at all.
 */
async function findFetchFault(request: FailedRequest): Promise<FetchFault> {
  const { url, cause } = request
  const { href, origin, protocol, hostname } = new URL(url)
  const isLoopbackTarget = isBrowserLoopback(hostname)
  const pageOrigin = globalThis.origin
  const fault = (kind: FetchFaultKind, message: string, advice: string): FetchFault =>
    new FetchFault(kind, message, advice, cause)

  if (navigator.onLine === false && !isLoopbackTarget) {
    return fault('offline', 'This device is offline', 'Try again when there is a network')
  }
  if (protocol === 'http:' && !isLoopbackTarget && /^(https|wss):/.test(pageUrl())) {
    const advice = 'Serve it over HTTPS, or open this page over HTTP'
    return fault('mixed-content', `A page on HTTPS may not call "${href}"`, advice)
  }
  const isReachable = await respondsToProbe(request)
  // The browser reports policy violations one task later
  await sleep(0)
  if (blockedUrls?.some((blocked) => blocked === href || blocked === origin)) {
    const message = `The Content-Security-Policy of this page forbids calling "${origin}"`
    return fault('csp', message, `Add it to the policy's "connect-src"`)
  }
  if (isReachable && origin !== pageOrigin) {
    const headerNames = [...request.headers.keys()].filter((name) => !SAFE_HEADERS.includes(name))
    const advice =
      `Have it send "Access-Control-Allow-Origin: ${pageOrigin}", allow the methods GET, POST and DELETE ` +
      `and the headers ${headerNames.join(', ')}, and expose Mcp-Session-Id and WWW-Authenticate ` +
      `(Edgewise: allowedOrigins: ['${pageOrigin}']), ` +
      'or check the path (Edgewise: /mcp)'
    const message = `"${origin}" answers, but does not let pages of "${pageOrigin}" read it (CORS)`
    return fault('cors', message, advice)
  }
  // The advice also mentions the local network, because the name of a server does not reveal whether the server
  // is on it
  const advice =
    'Check the URL, that the server runs and that its certificate is valid; if it is on this ' +
    'machine or network, let this page access the local network'
  return fault('unreachable', `No server responds at "${href}"`, advice)
}

function pageUrl(): string {
  const documentUrl = globalThis.location?.href ?? ''
  // The URL of an `about:`, `blob:` or `data:` document does not show whether the document is secure, but its
  // origin does
  return /^(about|blob|data):/.test(documentUrl) ? globalThis.origin : documentUrl
}

/** Whether the server responds at all, even if the page may not read the response. */
async function respondsToProbe({ url, fetch }: FailedRequest): Promise<boolean> {
  try {
    await fetch(url, {
      method: 'HEAD',
      mode: 'no-cors',
      credentials: 'omit',
      cache: 'no-store',
      signal: AbortSignal.timeout(PROBE_MS),
    })
    return true
  } catch {
    return false
  }
}

/** The maximum number of blocked URLs that are remembered. */
const MAX_BLOCKED_URLS = 100

/** The URLs that the page's policy has recently blocked; `undefined` until {@link watchPolicy} is called. */
let blockedUrls: readonly string[] | undefined

/** Starts to record the URLs that the page's policy blocks. */
function watchPolicy(): void {
  if (blockedUrls) return
  blockedUrls = []
  globalThis.addEventListener?.('securitypolicyviolation', (event) => {
    const { effectiveDirective, blockedURI } = event
    if (effectiveDirective !== 'connect-src') return
    blockedUrls = [...(blockedUrls ?? []), blockedURI].slice(-MAX_BLOCKED_URLS)
  })
}
