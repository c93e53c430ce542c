/**
 * A counting semaphore.
 *
 * @see https://en.wikipedia.org/wiki/Semaphore_(programming)
 */

/** Creates a function that runs at most `max` jobs at once. Further jobs wait in order of arrival. */
export function semaphore(max: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let available = max
  return async (work) => {
    if (available > 0) available--
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else available++
    }
  }
}
