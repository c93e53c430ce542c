/**
 * The measured side of a forked contender: waits for "do n calls" and answers how long they took.
 */

/** What the parent is told when the child is ready to be measured. */
export interface Ready {
  note: string
}

/** What `n` calls took, in microseconds. */
export interface Took {
  wallUs: number
  cpuUs: number
}

/**
 * Answers every `n` sent by the parent with what `n` calls took.
 *
 * @param calls does `n` calls, one after another, and throws when an answer is wrong
 */
export function serveRounds(note: string, calls: (n: number) => Promise<void>): void {
  const measure = async (n: number): Promise<void> => {
    const cpu = process.cpuUsage()
    const start = performance.now()
    await calls(n)
    const wallUs = (performance.now() - start) * 1000
    const { user, system } = process.cpuUsage(cpu)
    process.send?.({ wallUs, cpuUs: user + system } satisfies Took)
  }
  process.on('message', (n: number) => void measure(n))
  process.send?.({ note } satisfies Ready)
}
