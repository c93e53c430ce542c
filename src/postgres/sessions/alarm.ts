/**
 * A signal to continue that is not lost if it is sent before the receiver waits for it.
 *
 * @see https://html.spec.whatwg.org/multipage/timers-and-user-prompts.html#timers
 */
import { unref } from '../../patterns/timers.ts'

/** Wakes one waiter. */
export class Alarm {
  #rang = false
  #wake: (() => void) | undefined

  /** Ends the current wait or, if there is none, the next one. */
  ring(): void {
    this.#rang = true
    this.#wake?.()
  }

  /** Resolves when {@link ring} was called since the last wait, or after the timeout. */
  async wait(timeoutMs: number): Promise<void> {
    if (!this.#rang) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, timeoutMs)
        unref(timer)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    this.#rang = false
    this.#wake = undefined
  }
}
