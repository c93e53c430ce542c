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

/** A `fetch` whose responses are there as a whole, or not at all. */
export function boundedFetch(fetch: Fetch, timeoutMs: number): Fetch {
  return async (input, init) => {
    const signal = AbortSignal.timeout(timeoutMs)
    const late = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason))
    })
    late.catch(() => {})
    const response = await Promise.race([fetch(input, { ...init, signal }), late])
    const { status } = response
    const headers = new Headers(response.headers)
    // What is passed on is decoded
    for (const name of ['content-encoding', 'content-length']) headers.delete(name)
    const bytes = await readBytes(response.body, MAX_BYTES, signal)
    signal.throwIfAborted()
    if (!bytes) throw new RangeError(`The answer is longer than ${MAX_BYTES} bytes`)
    return new Response(bytes.length > 0 ? bytes : null, { status, headers })
  }
}
