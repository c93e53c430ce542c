/**
 * Timers of tasks, which let a process end although they run.
 */
import { MAX_DELAY_MS, unref } from '../patterns/timers.ts'

/** The shortest time between two rings, in milliseconds. */
const MIN_DELAY_MS = 100

/** Rings once at the earliest of the times that it was set to. */
export class Alarm {
  readonly #ring: () => void
  #at = Infinity
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(ring: () => void) {
    this.#ring = ring
  }

  /** @param at Milliseconds since 1970; a later one than that of before changes nothing. */
  set(at: number): void {
    if (at >= this.#at) return
    clearTimeout(this.#timer)
    this.#at = at
    const delayMs = Math.min(Math.max(at - Date.now(), MIN_DELAY_MS), MAX_DELAY_MS)
    this.#timer = setTimeout(() => {
      this.#at = Infinity
      this.#ring()
    }, delayMs)
    unref(this.#timer)
  }
}

/** Does something later; gives what prevents it. What is further away than timers reach is not done. */
export function later(delayMs: number, work: () => void): () => void {
  if (delayMs > MAX_DELAY_MS) return () => {}
  const timer = setTimeout(work, delayMs)
  unref(timer)
  return () => clearTimeout(timer)
}

/** Does something again and again; gives what ends it. */
export function every(intervalMs: number, work: () => void): () => void {
  const timer = setInterval(work, intervalMs)
  unref(timer)
  return () => clearInterval(timer)
}
