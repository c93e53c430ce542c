/**
 * A counting semaphore.
 *
 * @see https://en.wikipedia.org/wiki/Semaphore_(programming)
 */

/** Creates a function that runs work at most `max` times at once; the rest waits in order. */
export function semaphore(max: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let free = max
  return async (work) => {
    if (free > 0) free--
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else free++
    }
  }
}
