/**
 * Waiting with an `AbortSignal`.
 *
 * @see https://dom.spec.whatwg.org/#aborting-ongoing-activities
 */
import { SdkError } from '../protocol/errors.ts'
import { MAX_TIMER_MS } from './timers.ts'

/**
 * Waits until a promise settles or a signal aborts, whichever comes first.
 *
 * @throws {SdkError} If the signal aborts: its reason if that is an {@link SdkError}, otherwise
 * `ABORTED`.
 */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(abortReason(signal))
    const removeListener = (): void => signal.removeEventListener('abort', abort)
    promise.then(resolve, reject).finally(removeListener)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort)
  })
}

/** Like {@link abortable}, but resolves with `undefined` when the signal aborts. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return abortable(promise, signal).catch((error: unknown) => {
    if (signal.aborted) return undefined
    throw error
  })
}

/**
 * Waits for some milliseconds, but at most {@link MAX_TIMER_MS}.
 *
 * @throws {SdkError} `ABORTED` if the signal aborts first.
 */
export async function sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const elapsed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.min(delayMs, MAX_TIMER_MS))
  })
  await abortable(elapsed, signal).finally(() => clearTimeout(timer))
}

/** The error for an aborted signal. */
export function abortReason(signal: AbortSignal): Error {
  const { reason } = signal
  return reason instanceof SdkError
    ? reason
    : new SdkError('ABORTED', 'The request was aborted', { cause: reason })
}
