/**
 * Work with a timeout.
 *
 * @see https://dom.spec.whatwg.org/#dom-abortsignal-timeout
 */
import { SdkError } from '../protocol/errors.ts'
import { MAX_TIMER_MS } from './timers.ts'

/**
 * Waits until work is done, the timeout has passed or `signal` aborts. The work receives a signal
 * that aborts when the timeout has passed or `signal` aborts. It may ignore that signal.
 *
 * @param timeoutMs Milliseconds, at most `MAX_TIMER_MS`.
 * @param signal Aborts the work, with the reason of the signal.
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
  const controller = new AbortController()
  const onTimeout = (): void => controller.abort(new SdkError('TIMEOUT', message))
  // Not `AbortSignal.any`, whose signals live as long as their sources
  const onAbort = (): void => controller.abort(signal?.reason)
  const timer = setTimeout(onTimeout, Math.min(timeoutMs, MAX_TIMER_MS))
  signal?.addEventListener('abort', onAbort)
  return new Promise<T>((resolve, reject) => {
    controller.signal.addEventListener('abort', () => reject(controller.signal.reason))
    work(controller.signal).then(resolve, reject)
  }).finally(() => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  })
}
