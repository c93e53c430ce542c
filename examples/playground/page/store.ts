/**
 * A value that notifies its listeners when it changes.
 *
 * @see https://developer.mozilla.org/docs/Web/API/EventTarget
 */

/** A value with one owner, which others observe. */
export interface Store<T> {
  get(): T
  set(value: T): void
  /** Calls a function after each change. Returns a function that unsubscribes. */
  subscribe(listener: (value: T) => void): () => void
}

/** Creates a store. */
export function createStore<T>(initial: T): Store<T> {
  const listeners = new Set<(value: T) => void>()
  let value = initial
  return {
    get: () => value,
    set(next) {
      if (next === value) return
      value = next
      for (const listener of listeners) listener(next)
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
