/**
 * A signal to continue. If it is sent before the receiver waits for it, the signal is not lost.
 *
 * @see https://html.spec.whatwg.org/multipage/timers-and-user-prompts.html#timers
 */
import { MAX_TIMER_MS, unref } from './timers.ts'

/** Wakes one loop that waits for something to do. */
export class WakeSignal {
  #isSent = false
  #resume: (() => void) | undefined

  /** Ends the current wait. Without one, the next wait ends immediately. */
  send(): void {
    this.#isSent = true
    this.#resume?.()
  }

  /**
   * Resolves when {@link send} was called since the last wait, or after the timeout.
   *
   * @param timeoutMs The timeout, in milliseconds. Its timer does not keep the process alive.
   */
  async wait(timeoutMs: number = Infinity): Promise<void> {
    if (!this.#isSent) {
      let timer: ReturnType<typeof setTimeout> | undefined
      await new Promise<void>((resolve) => {
        this.#resume = resolve
        if (timeoutMs < Infinity) {
          timer = setTimeout(resolve, Math.min(timeoutMs, MAX_TIMER_MS))
          unref(timer)
        }
      })
      clearTimeout(timer)
    }
    this.#isSent = false
    this.#resume = undefined
  }
}
