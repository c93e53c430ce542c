/**
 * The longest delay of a timer, and timers that do not keep a process alive.
 *
 * @see https://html.spec.whatwg.org/multipage/timers-and-user-prompts.html#timers
 */

/** The longest delay that timers take, in milliseconds; after a longer one they fire at once. */
export const MAX_DELAY_MS = 0x7fffffff

/** Lets a process end while a timer runs, where timers hinder that. */
export function unref(timer: unknown): void {
  ;(timer as { unref?: () => void }).unref?.()
}

/** Yields to everything that is ready to run: I/O, timers, other requests. */
export function nextTurn(): Promise<void> {
  // A single timer is not enough: Node may run it in the same phase, before it polls for I/O
  return new Promise((resolve) => setTimeout(() => setTimeout(resolve)))
}
