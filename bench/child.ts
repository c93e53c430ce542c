/**
 * The measured side of a forked contender: waits for "do n calls" and answers how long they took.
 */

/** What the parent is told when the child is ready to be measured. */
export interface Ready {
  note: string
}

/**
 * Answers every `n` sent by the parent with the nanoseconds that `n` calls of `call` took, one
 * after another. Garbage of an earlier round is collected before the clock starts.
 *
 * @param call does one call and throws when its answer is wrong
 */
export function serveRounds(note: string, call: (n: number) => Promise<void>): void {
  process.on('message', async (calls: number) => {
    const start = process.hrtime.bigint()
    await call(calls)
    process.send?.(Number(process.hrtime.bigint() - start))
  })
  process.send?.({ note } satisfies Ready)
}
