/**
 * Timers for tasks. These timers do not keep the process alive.
 */
import { MAX_TIMER_MS, unref } from '../patterns/timers.ts'

/** The shortest delay of an alarm, in milliseconds. */
const MIN_DELAY_MS = 100

/** Calls a function at the earliest of the times that were set. The alarm can then be set again. */
export class Alarm {
  readonly #fire: () => void
  /** The time for which the alarm is set, in milliseconds since 1970; `Infinity` if it is not set. */
  #at = Infinity
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(fire: () => void) {
    this.#fire = fire
  }

  /** @param at Milliseconds since 1970. Ignored if the alarm is set for an earlier time. */
  set(at: number): void {
    if (at >= this.#at) return
    clearTimeout(this.#timer)
    this.#at = at
    const delayMs = Math.min(Math.max(at - Date.now(), MIN_DELAY_MS), MAX_TIMER_MS)
    this.#timer = setTimeout(() => {
      this.#at = Infinity
      this.#fire()
    }, delayMs)
    unref(this.#timer)
  }
}

/**
 * Schedules work. Returns a function that cancels the work. If the delay exceeds the maximum delay of
 * timers, which is over 24 days, the work never runs.
 */
export function runLater(delayMs: number, work: () => void): () => void {
  if (delayMs > MAX_TIMER_MS) return () => {}
  const timer = setTimeout(work, delayMs)
  unref(timer)
  return () => clearTimeout(timer)
}

/** Repeats work at an interval. Returns a function that stops the repetition. */
export function runEvery(intervalMs: number, work: () => void): () => void {
  const timer = setInterval(work, intervalMs)
  unref(timer)
  return () => clearInterval(timer)
}
