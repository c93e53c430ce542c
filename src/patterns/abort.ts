/**
 * Waiting with an `AbortSignal`.
 *
 * @see https://dom.spec.whatwg.org/#aborting-ongoing-activities
 */
import { SdkError } from '../protocol/errors.ts'
import { MAX_DELAY_MS } from './timers.ts'

/**
 * Waits for a promise, or until a signal fires, whichever comes first.
 *
 * @throws {SdkError} `ABORTED`; the signal's own reason if that is a {@link SdkError}.
 */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(abortReason(signal))
    const done = (): void => signal.removeEventListener('abort', abort)
    promise.then(resolve, reject).finally(done)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort)
  })
}

/** Like {@link abortable}, but resolves with `undefined` when the signal fires. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return abortable(promise, signal).catch((error: unknown) => {
    if (signal.aborted) return undefined
    throw error
  })
}

/**
 * Waits for some milliseconds, or for the longest time that timers can if that is shorter.
 *
 * @throws {SdkError} `ABORTED` if the signal fires first.
 */
export async function sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const slept = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.min(delayMs, MAX_DELAY_MS))
  })
  await abortable(slept, signal).finally(() => clearTimeout(timer))
}

/** The error for an aborted signal. */
export function abortReason(signal: AbortSignal): Error {
  const { reason } = signal
  return reason instanceof SdkError
    ? reason
    : new SdkError('ABORTED', 'The request was aborted', { cause: reason })
}
