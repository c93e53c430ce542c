/**
 * Requests to authorization servers. Their duration, and the size of the responses, are limited even if the
 * given `fetch` ignores its signal, so that no request to this server hangs because of an authorization server.
 *
 * @see https://www.rfc-editor.org/rfc/rfc7662#section-4
 */
import { readBytes } from '../patterns/bounded-read.ts'
import { withTimeout } from '../patterns/timeout.ts'

/** Sends a request to a URL. */
export type FetchUrl = (url: string, init?: RequestInit) => Promise<Response>

/** The longest response that is read; key sets and introspection responses are far shorter. */
const MAX_BYTES = 1024 * 1024

/**
 * How long to wait after a failure before the next request to an authorization server, in
 * milliseconds. Without this pause, anyone could trigger requests by sending tokens. During the pause, the
 * server responds to callers with 503 and a `Retry-After` of the same length.
 */
const RETRY_DELAY_MS = 5_000

/** The outcome of a request. */
interface Outcome {
  /** Returns the response again, or throws the error again. */
  readonly repeat: () => Response
  /** Until when other requests share the outcome, by `performance.now()`. */
  until: number
}

/**
 * Creates a `fetch` that reads whole responses up to a limit and acts as a circuit breaker: for 5 s after a GET
 * or a failed POST, all requests to the same URL have the same outcome.
 */
export function boundedFetch(fetch: FetchUrl, timeoutMs: number): FetchUrl {
  const outcomes = new Map<string, Outcome>()
  return async (url, init) => {
    const previous = outcomes.get(url)
    const now = performance.now()
    if (previous && now < previous.until) return previous.repeat()
    // Until this request has ended, the others share the previous outcome: only one probes for recovery
    if (previous) previous.until = now + RETRY_DELAY_MS
    let repeat: () => Response
    let isShared = init?.method !== 'POST'
    try {
      repeat = await readWhole(fetch, timeoutMs, url, init)
      const { status } = repeat()
      // The responses 400 and 500 are not shared, because a single malformed token may have caused them
      isShared ||= status > 400 && status !== 500
    } catch (error) {
      isShared = true
      repeat = () => {
        throw error
      }
    }
    if (isShared) outcomes.set(url, { repeat, until: performance.now() + RETRY_DELAY_MS })
    else outcomes.delete(url)
    return repeat()
  }
}

/**
 * Sends a request and reads the response. Returns a function that creates copies of the response.
 */
async function readWhole(
  fetch: FetchUrl,
  timeoutMs: number,
  ...[url, init]: Parameters<FetchUrl>
): Promise<() => Response> {
  const { response, bytes } = await withTimeout(timeoutMs, async (signal) => {
    const response = await fetch(url, { ...init, signal })
    // Aborts the body at the timeout even if `fetch` ignores the signal
    const body = response.body?.pipeThrough(new TransformStream<Uint8Array>(), { signal })
    return { response, bytes: await readBytes(body, MAX_BYTES) }
  })
  if (!bytes) throw new RangeError(`The answer is longer than ${MAX_BYTES} bytes`)
  const { headers } = response
  // Some frameworks respond to every POST with 201
  const status = response.ok ? 200 : response.status
  return () => new Response(bytes.length > 0 ? bytes : null, { status, headers })
}
