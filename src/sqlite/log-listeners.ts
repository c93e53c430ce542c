/**
 * Notifies listeners of new events in a log to which other processes also append events.
 */
import { unref } from '../patterns/timers.ts'

/** The listeners in this process. */
export class LogListeners {
  readonly #readHead: (name: string) => number
  readonly #checkMs: number
  /** The listeners by event type. `head` is the position of the last event that they know. */
  readonly #listeners = new Map<string, { head: number; callbacks: Set<() => void> }>()
  #timer: ReturnType<typeof setInterval> | undefined

  /**
   * @param readHead Reads the position of the last event of a type.
   * @param checkMs How often the log is checked for events of other processes, in milliseconds.
   */
  constructor(readHead: (name: string) => number, checkMs: number) {
    this.#readHead = readHead
    this.#checkMs = checkMs
  }

  /** Adds a listener for events of a type. Returns a function that removes the listener. */
  add(name: string, listener: () => void): () => void {
    const entry = this.#listeners.get(name) ?? {
      head: this.#readHead(name),
      callbacks: new Set(),
    }
    this.#listeners.set(name, entry)
    entry.callbacks.add(listener)
    if (!this.#timer) {
      this.#timer = setInterval(() => this.#check(), this.#checkMs)
      unref(this.#timer)
    }
    return () => {
      entry.callbacks.delete(listener)
      // If this function was called before, a later `add` may have stored another entry
      if (entry.callbacks.size === 0 && this.#listeners.get(name) === entry) {
        this.#listeners.delete(name)
      }
      if (this.#listeners.size > 0) return
      clearInterval(this.#timer)
      this.#timer = undefined
    }
  }

  /** Notifies the listeners after this process has appended an event. */
  onAppended(name: string): void {
    this.#notify(name)
  }

  #check(): void {
    for (const name of this.#listeners.keys()) this.#notify(name)
  }

  /** Notifies the listeners of a type, if there are new events. */
  #notify(name: string): void {
    const entry = this.#listeners.get(name)
    if (!entry) return
    const head = this.#readHead(name)
    if (head === entry.head) return
    entry.head = head
    for (const listener of [...entry.callbacks]) listener()
  }
}
