/**
 * Fetching from authorization servers with a bound in time and size, also where the given `fetch`
 * makes nothing of signals: a request that waits for them must not wait for ever.
 *
 * @see https://www.rfc-editor.org/rfc/rfc7662#section-4
 */
import { readBytes } from '../patterns/bounded-read.ts'

type Fetch = typeof globalThis.fetch

/** The longest answer that is read; key sets and introspections are far shorter. */
const MAX_BYTES = 1024 * 1024

/**
 * How long an authorization server that failed is not asked again, in milliseconds: anyone can send
 * tokens that it would be asked about. As long as `Retry-After` of our own 503.
 */
const RETRY_MS = 5_000

/** What came of a request: gives the response again, or throws again. */
interface Outcome {
  readonly repeat: () => Response
  /** Until when it stands for another request, by `performance.now()`. */
  until: number
}

/**
 * A `fetch` whose responses are there as a whole, or not at all; a circuit breaker besides. What is
 * read with GET, and the failure of anything else, stands for all requests to that URL for 5 s.
 */
export function boundedFetch(fetch: Fetch, timeoutMs: number): Fetch {
  const outcomes = new Map<string, Outcome>()
  return async (input, init) => {
    const url = input instanceof Request ? input.url : String(input)
    const known = outcomes.get(url)
    const now = performance.now()
    if (known && now < known.until) return known.repeat()
    // While this request finds out whether the server works again, others do not
    if (known) known.until = now + RETRY_MS
    let repeat: () => Response
    let stands = init?.method !== 'POST'
    try {
      repeat = await readWhole(fetch, timeoutMs, input, init)
      const { status } = repeat()
      // 400 and 500 may come of one odd token, and then concern only that
      stands ||= status > 400 && status !== 500
    } catch (error) {
      stands = true
      repeat = () => {
        throw error
      }
    }
    if (stands) outcomes.set(url, { repeat, until: performance.now() + RETRY_MS })
    else outcomes.delete(url)
    return repeat()
  }
}

/** Reads a response; gives what makes it as often as it is needed. */
async function readWhole(
  fetch: Fetch,
  timeoutMs: number,
  ...[input, init]: Parameters<Fetch>
): Promise<() => Response> {
  const signal = AbortSignal.timeout(timeoutMs)
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason))
  })
  late.catch(() => {})
  const response = await Promise.race([fetch(input, { ...init, signal }), late])
  const headers = new Headers(response.headers)
  // What is passed on is decoded
  for (const name of ['content-encoding', 'content-length']) headers.delete(name)
  const bytes = await readBytes(response.body, MAX_BYTES, signal)
  signal.throwIfAborted()
  if (!bytes) throw new RangeError(`The answer is longer than ${MAX_BYTES} bytes`)
  // Some frameworks answer every POST with 201
  const status = response.ok ? 200 : response.status
  return () => new Response(bytes.length > 0 ? bytes : null, { status, headers })
}
