/**
 * Work with a timeout.
 *
 * @see https://dom.spec.whatwg.org/#dom-abortsignal-timeout
 */
import { SdkError } from '../protocol/errors.ts'
import { MAX_DELAY_MS } from './timers.ts'

/**
 * Runs work until it is done, the timeout passes or a signal fires. The work receives a signal that
 * aborts in the latter cases, but need not react to it. Unlike `AbortSignal.timeout`, the timer
 * does not keep the process alive once the work is done.
 *
 * @param timeoutMs Milliseconds, at most `MAX_DELAY_MS`.
 * @param signal Aborts the work, with its reason.
 * @param message The message of the timeout error.
 * @throws {SdkError} `TIMEOUT`.
 */
export async function withTimeout<T>(
  timeoutMs: number,
  work: (signal: AbortSignal) => Promise<T>,
  signal?: AbortSignal,
  message: string = `Timed out after ${timeoutMs} ms`,
): Promise<T> {
  signal?.throwIfAborted()
  const settled = new AbortController()
  const expire = (): void => settled.abort(new SdkError('TIMEOUT', message))
  // Not `AbortSignal.any`, whose signals live as long as their sources
  const leave = (): void => settled.abort(signal?.reason)
  const timer = setTimeout(expire, Math.min(timeoutMs, MAX_DELAY_MS))
  signal?.addEventListener('abort', leave)
  return new Promise<T>((resolve, reject) => {
    settled.signal.addEventListener('abort', () => reject(settled.signal.reason))
    work(settled.signal).then(resolve, reject)
  }).finally(() => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', leave)
  })
}
