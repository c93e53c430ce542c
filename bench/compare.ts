/**
 * Interleaved comparison: the machine is noisy, so a number counts only beside the floor's number
 * taken a moment before or after it.
 */

/** Something that can be timed: an SDK in one set-up, or the floor. */
export interface Contender {
  /** Row label, such as `official v2`. */
  name: string
  /** What is worth knowing about the set-up: `session`, `stateless`… */
  note: string
  /** Does its work once and returns what one call took, in microseconds. */
  round(): Promise<number>
  /** Ends whatever was started. */
  close(): Promise<void>
}

/** Median with the extremes it was taken from. */
export interface Spread {
  median: number
  min: number
  max: number
}

/** What was found out about one contender. */
export interface Measured {
  name: string
  note: string
  /** Microseconds for one call. */
  us: Spread
  /** Time of one call over the floor's in the same pair of rounds. */
  ratio: Spread
}

/** Median, least and greatest of `values`. */
export function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  const median = sorted.length % 2 === 0 ? ((sorted[middle - 1] ?? upper) + upper) / 2 : upper
  return { median, min: sorted[0] ?? Number.NaN, max: sorted.at(-1) ?? Number.NaN }
}

/**
 * Runs `rounds` rounds. In each, every contender is paired with a round of the floor of its own,
 * alternately before and after it, and its ratio is taken within that pair.
 */
export async function compare(
  floor: Contender,
  contenders: readonly Contender[],
  rounds: number,
): Promise<{ us: number[]; ratio: number[] }[]> {
  const samples = [floor, ...contenders].map(() => ({ us: [] as number[], ratio: [] as number[] }))
  for (let round = 0; round < rounds; round++) {
    for (const [index, contender] of contenders.entries()) {
      const floorFirst = (round + index) % 2 === 0
      const before = floorFirst ? await floor.round() : 0
      const us = await contender.round()
      const base = floorFirst ? before : await floor.round()
      samples[0]?.us.push(base)
      samples[0]?.ratio.push(1)
      samples[index + 1]?.us.push(us)
      samples[index + 1]?.ratio.push(us / base)
    }
  }
  return samples
}

/**
 * Compares in `generations` fresh sets of contenders, because two processes that run the same code
 * may differ by several percent for their whole life.
 *
 * @param open starts the floor and, after it, the contenders
 */
export async function compareGenerations(
  open: () => Promise<[Contender, ...Contender[]]>,
  options: { generations: number; rounds: number },
): Promise<Measured[]> {
  const all: { name: string; note: string; us: number[]; ratio: number[] }[] = []
  for (let generation = 0; generation < options.generations; generation++) {
    const [floor, ...contenders] = await open()
    try {
      const samples = await compare(floor, contenders, options.rounds)
      for (const [index, { name, note }] of [floor, ...contenders].entries()) {
        const entry = (all[index] ??= { name, note, us: [], ratio: [] })
        entry.us.push(...(samples[index]?.us ?? []))
        entry.ratio.push(...(samples[index]?.ratio ?? []))
      }
    } finally {
      await Promise.all([floor, ...contenders].map((contender) => contender.close()))
    }
  }
  return all.map(({ name, note, us, ratio }) => ({
    name,
    note,
    us: spread(us),
    ratio: spread(ratio),
  }))
}
