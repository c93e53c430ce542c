/**
 * A mutex for each key, within one process.
 *
 * @see https://en.wikipedia.org/wiki/Lock_(computer_science)
 */

/**
 * Creates a function that runs jobs with the same key one at a time, in order of arrival, even if earlier
 * jobs fail. A job that waits for another job with its own key deadlocks.
 */
export function keyedMutex(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const lastByKey = new Map<string, Promise<unknown>>()
  return (key, work) => {
    const job = (lastByKey.get(key) ?? Promise.resolve()).then(work, work)
    lastByKey.set(key, job)
    const forget = (): void => {
      if (lastByKey.get(key) === job) lastByKey.delete(key)
    }
    job.then(forget, forget)
    return job
  }
}
