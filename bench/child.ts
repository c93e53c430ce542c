/**
 * The child process of a forked contender: waits for "make n calls" and answers with their duration.
 */

/** The message to the parent when the child is ready to be measured. */
export interface Ready {
  note: string
}

/** The duration of `n` calls, in microseconds. */
export interface Duration {
  wallUs: number
  cpuUs: number
}

/**
 * Answers every `n` from the parent with the duration of `n` calls.
 *
 * @param calls Makes `n` calls, one after another, and throws if a response is wrong.
 */
export function serveRounds(note: string, calls: (n: number) => Promise<void>): void {
  const measure = async (n: number): Promise<void> => {
    const cpu = process.cpuUsage()
    const start = performance.now()
    await calls(n)
    const wallUs = (performance.now() - start) * 1000
    const { user, system } = process.cpuUsage(cpu)
    process.send?.({ wallUs, cpuUs: user + system } satisfies Duration)
  }
  process.on('message', (n: number) => void measure(n))
  process.send?.({ note } satisfies Ready)
}
