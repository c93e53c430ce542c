/**
 * `fetch` for a page. It explains why a request failed, and closes listening streams while the page
 * cannot listen, so that the page can enter the back/forward cache.
 *
 * @see https://html.spec.whatwg.org/multipage/document-lifecycle.html#page-visibility
 */
import { isBrowserLoopback } from '#internal/patterns'
import { explainedFetch, plainFetch, type Fetch } from './fetch-fault.ts'

/** Settings of {@link pageFetch}. */
export interface PageFetchOptions {
  /**
   * Sends the requests.
   *
   * @default fetch
   */
  readonly fetch?: Fetch | undefined
  /**
   * Whether to determine why a request failed, which may send another request.
   *
   * @default true
   */
  readonly explain?: boolean | undefined
  /**
   * Called with `true` when a listening stream has to wait for a free connection, and with `false` when the
   * wait ends.
   */
  readonly onWait?: ((isWaiting: boolean) => void) | undefined
}

/**
 * Creates a `fetch` for a page; {@link connect} uses one by default.
 *
 * - A request without a response rejects with a `FetchFault`, which distinguishes CORS, mixed
 *   content, the page's policy, a missing network and an unreachable server.
 * - Streams that only listen are closed when the page is unloaded or frozen, or the device goes
 *   offline. New streams wait until the page or the network is back. The client opens them
 *   automatically, and continues after the last event it received. Calls are not affected.
 * - Over HTTP without TLS, a browser has only six connections to a server. At most four tabs of an
 *   origin therefore listen to such a server at a time, and other tabs wait. A visible tab does not wait
 *   if a hidden tab listens: the visible tab listens in its place.
 *
 * @see https://html.spec.whatwg.org/multipage/document-lifecycle.html#page-visibility
 */
export function pageFetch(options: PageFetchOptions = {}): Fetch {
  const { explain = true, fetch = plainFetch, onWait } = options
  const send = explain ? explainedFetch(fetch) : fetch
  observePageLifecycle()
  return async (url, init) => {
    const { method, signal } = init
    const headers = new Headers(init.headers)
    if (!isListenRequest(method, headers)) return send(url, init)
    for (;;) {
      await untilCanListen(url, signal)
      const stopSignal = streamsController.signal
      const anySignal = signal ? AbortSignal.any([signal, stopSignal]) : stopSignal
      const sendWithSignal = (signal: AbortSignal): Promise<Response> =>
        send(url, { ...init, signal })
      try {
        if (signal) noteListenSignal(headers, signal)
        if (!signal || !needsSlot(url, signal)) return await sendWithSignal(anySignal)
        // This module is loaded on demand, because few pages need it
        const { sendInSlot } = await import('./stream-slots.ts')
        return await sendInSlot(url, anySignal, sendWithSignal, onWait)
      } catch (cause) {
        if (signal?.aborted || !stopSignal.aborted) throw cause
        // The page stopped listening before it received anything, so the request is sent again later
      }
    }
  }
}

/** Whether a request only listens for server messages. */
function isListenRequest(method: string | undefined, headers: Headers): boolean {
  if (headers.get('mcp-method') === 'subscriptions/listen') return true
  return method === 'GET' && headers.get('accept') === 'text/event-stream'
}

/**
 * The signals of the streams that carry no responses. The stream of HTTP+SSE and the streams of resumed
 * calls do carry responses. When a stream reconnects, its request looks like the request of a resumed call,
 * but it has the same signal as the first request of the stream.
 */
const listenSignals = new WeakSet<AbortSignal>()

/** Records the signal of a request whose stream carries no responses. */
function noteListenSignal(headers: Headers, signal: AbortSignal): void {
  const isNewSessionStream = headers.has('mcp-session-id') && !headers.has('last-event-id')
  const isSubscription = headers.has('mcp-method')
  if (isNewSessionStream || isSubscription) listenSignals.add(signal)
}

/**
 * Whether a stream needs a slot: one of the few connections that streams may occupy. Only HTTP without TLS,
 * which is HTTP/1.1, limits connections. Streams that carry responses need no slot, so they never wait.
 */
function needsSlot(url: string, signal: AbortSignal): boolean {
  return url.startsWith('http:') && listenSignals.has(signal)
}

/** The controller that closes the open listening streams. It is replaced each time it aborts. */
let streamsController = new AbortController()
let isHidden = false
/** The functions that resume waiting streams when the page is shown again, or the network is back. */
const resumeFunctions: (() => void)[] = []
let isObserving = false

/** Observes the events after which the page can listen, or cannot listen any more. */
function observePageLifecycle(): void {
  if (isObserving || typeof globalThis.addEventListener !== 'function') return
  isObserving = true
  const abortStreams = (): void => {
    streamsController.abort(new DOMException('The page cannot listen now', 'AbortError'))
    streamsController = new AbortController()
  }
  const resumeStreams = (): void => {
    for (const resume of resumeFunctions.splice(0)) resume()
  }
  const hide = (): void => {
    isHidden = true
    abortStreams()
  }
  const show = (): void => {
    isHidden = false
    resumeStreams()
  }
  addEventListener('pagehide', hide)
  addEventListener('pageshow', show)
  // The freeze and resume events of https://wicg.github.io/page-lifecycle/
  globalThis.document?.addEventListener('freeze', hide)
  globalThis.document?.addEventListener('resume', show)
  addEventListener('offline', abortStreams)
  addEventListener('online', resumeStreams)
}

/** Whether a stream to a URL can be opened now. */
function canListen(url: string): boolean {
  // A local server needs no network
  return (
    !isHidden &&
    (globalThis.navigator?.onLine !== false || isBrowserLoopback(new URL(url).hostname))
  )
}

/** Waits until a stream to a URL can be opened, or the signal aborts. */
async function untilCanListen(url: string, signal: AbortSignal | null | undefined): Promise<void> {
  while (!canListen(url) && !signal?.aborted) {
    await new Promise<void>((resolve) => {
      resumeFunctions.push(resolve)
      signal?.addEventListener('abort', () => resolve(), { once: true })
    })
  }
}
