/**
 * What timers can do, which is less than numbers can say.
 *
 * @see https://html.spec.whatwg.org/multipage/timers-and-user-prompts.html#timers
 */

/** The longest delay that timers take, in milliseconds; after a longer one they fire at once. */
export const MAX_DELAY_MS = 0x7fffffff

/** Lets a process end while a timer runs, where timers hinder that. */
export function unref(timer: unknown): void {
  ;(timer as { unref?: () => void }).unref?.()
}

/** Lets whatever else waits run first: I/O, timers, other requests. */
export function nextTurn(): Promise<void> {
  // Node runs a timer that became due among the timers before it, without a look at I/O
  return new Promise((resolve) => setTimeout(() => setTimeout(resolve)))
}
