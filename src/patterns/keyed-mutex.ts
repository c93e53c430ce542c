/**
 * A mutex for each key, within one process.
 *
 * @see https://en.wikipedia.org/wiki/Lock_(computer_science)
 */

/**
 * Creates a function that runs a job while no other job with the same key runs. Jobs with the same
 * key run in order of arrival, whether or not earlier ones fail. A job that waits for another of
 * its own key deadlocks.
 */
export function keyedMutex(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>()
  return (key, work) => {
    const turn = (last.get(key) ?? Promise.resolve()).then(work, work)
    last.set(key, turn)
    const done = (): void => {
      if (last.get(key) === turn) last.delete(key)
    }
    turn.then(done, done)
    return turn
  }
}
