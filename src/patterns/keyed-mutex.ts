/**
 * A mutex for each key, within one process.
 *
 * @see https://en.wikipedia.org/wiki/Lock_(computer_science)
 */

/**
 * Makes a function that runs a job while no other job of the same key runs. Jobs of one key run in
 * the order in which they come, whether those before them fail or not; a job that waits for another of
 * its own key never ends.
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
