/**
 * Fetching from authorization servers with a bound in time and size, also where the given `fetch`
 * makes nothing of signals: a request that waits for them must not wait for ever.
 *
 * @see https://www.rfc-editor.org/rfc/rfc7662#section-4
 */
import { readBytes } from '../patterns/bounded-read.ts'
import { withTimeout } from '../patterns/timeout.ts'

/** Sends a request to a URL. */
export type FetchUrl = (url: string, init?: RequestInit) => Promise<Response>

/** The longest answer that is read; key sets and introspections are far shorter. */
const MAX_BYTES = 1024 * 1024

/**
 * How long no request is sent to an authorization server that failed, in milliseconds: anyone can
 * send tokens that would cause requests. The same as `Retry-After` of our 503.
 */
const RETRY_MS = 5_000

/** The outcome of a request. */
interface Outcome {
  /** Returns the response again, or throws the error again. */
  readonly repeat: () => Response
  /** Until when it is the outcome of other requests too, by `performance.now()`. */
  until: number
}

/**
 * A `fetch` that reads whole responses up to a limit, and that is a circuit breaker: for 5 s a
 * response to GET, or the failure of another request, is the outcome of all requests to that URL.
 */
export function boundedFetch(fetch: FetchUrl, timeoutMs: number): FetchUrl {
  const outcomes = new Map<string, Outcome>()
  return async (url, init) => {
    const known = outcomes.get(url)
    const now = performance.now()
    if (known && now < known.until) return known.repeat()
    // Only one request at a time tries whether the server works again
    if (known) known.until = now + RETRY_MS
    let repeat: () => Response
    let isShared = init?.method !== 'POST'
    try {
      repeat = await readWhole(fetch, timeoutMs, url, init)
      const { status } = repeat()
      // 400 and 500 may be caused by one odd token, and then concern no other
      isShared ||= status > 400 && status !== 500
    } catch (error) {
      isShared = true
      repeat = () => {
        throw error
      }
    }
    if (isShared) outcomes.set(url, { repeat, until: performance.now() + RETRY_MS })
    else outcomes.delete(url)
    return repeat()
  }
}

/** Sends a request and reads the response; returns a function that makes it any number of times. */
async function readWhole(
  fetch: FetchUrl,
  timeoutMs: number,
  ...[url, init]: Parameters<FetchUrl>
): Promise<() => Response> {
  const { response, bytes } = await withTimeout(timeoutMs, async (signal) => {
    const response = await fetch(url, { ...init, signal })
    // Ends the body at the timeout, also where `fetch` does not
    const body = response.body?.pipeThrough(new TransformStream<Uint8Array>(), { signal })
    return { response, bytes: await readBytes(body, MAX_BYTES) }
  })
  if (!bytes) throw new RangeError(`The answer is longer than ${MAX_BYTES} bytes`)
  const { headers } = response
  // Some frameworks answer every POST with 201
  const status = response.ok ? 200 : response.status
  return () => new Response(bytes.length > 0 ? bytes : null, { status, headers })
}
