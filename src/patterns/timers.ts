/**
 * The longest delay of a timer, and timers that do not keep a process alive.
 *
 * @see https://html.spec.whatwg.org/multipage/timers-and-user-prompts.html#timers
 */

/** The longest delay of timers, in milliseconds. A timer with a longer delay fires immediately. */
export const MAX_TIMER_MS = 0x7fffffff

/** Lets the process exit while a timer is pending, on runtimes where timers prevent that. */
export function unref(timer: unknown): void {
  ;(timer as { unref?: () => void }).unref?.()
}

/** Like `sleep` of `abort.ts`, but the wait does not keep the process alive. */
export function pause(delayMs: number): Promise<void> {
  return new Promise((resolve) => unref(setTimeout(resolve, delayMs)))
}

/** Waits until all other work that is ready has run: I/O, timers, other requests. */
export function nextTurn(): Promise<void> {
  // A single timer is not enough: Node may run it in the same phase, before it polls for I/O
  return new Promise((resolve) => setTimeout(() => setTimeout(resolve)))
}
