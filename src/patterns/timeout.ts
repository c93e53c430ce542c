/**
 * Work that is given up after some time.
 *
 * @see https://dom.spec.whatwg.org/#dom-abortsignal-timeout
 */
import { McpError } from '../protocol/errors.ts'
import { MAX_DELAY_MS } from './timers.ts'

/**
 * Runs work until it is done, the time is over or a signal fires. The work gets a signal that fires
 * when it is given up, and need not heed it. Unlike that of `AbortSignal.timeout`, the timer keeps no
 * program from ending once the work is done.
 *
 * @param timeoutMs Milliseconds, at most `MAX_DELAY_MS`.
 * @param signal Ends the work, with its reason.
 * @param message What the error of the timeout says.
 * @throws {McpError} `TIMEOUT`.
 */
export async function withTimeout<T>(
  timeoutMs: number,
  work: (signal: AbortSignal) => Promise<T>,
  signal?: AbortSignal,
  message: string = `Not done within ${timeoutMs} ms`,
): Promise<T> {
  signal?.throwIfAborted()
  const over = new AbortController()
  const expire = (): void => over.abort(new McpError('TIMEOUT', message))
  // Not by `AbortSignal.any`, whose signals live as long as those that they come from
  const leave = (): void => over.abort(signal?.reason)
  const timer = setTimeout(expire, Math.min(timeoutMs, MAX_DELAY_MS))
  signal?.addEventListener('abort', leave)
  return new Promise<T>((resolve, reject) => {
    over.signal.addEventListener('abort', () => reject(over.signal.reason))
    work(over.signal).then(resolve, reject)
  }).finally(() => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', leave)
  })
}
