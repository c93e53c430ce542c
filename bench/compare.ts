/**
 * Interleaved comparison: the machine is noisy, so a number counts only beside the floor's number
 * of the same round.
 */

/** What one call took, in microseconds. */
export interface Cost {
  /** By the clock. */
  wallUs: number
  /** Processor time of the process that did it, all its threads together, if that can be known. */
  cpuUs?: number
}

/** Something that can be timed: an SDK in one set-up, or the floor. */
export interface Contender {
  /** Row label, such as `official v2`. */
  name: string
  /** What is worth knowing about the set-up: `session`, `stateless`… */
  note: string
  /** Does its work once and returns what one call took. */
  round(): Promise<Cost>
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
  /** Microseconds for one call, by the clock. */
  wallUs: Spread
  /** Clock time of one call over the floor's in the same round. */
  ratio: Spread
  /** Microseconds of processor time for one call. */
  cpuUs?: Spread
  /** The ratio of processor time, which other work on the machine disturbs less. */
  cpuRatio?: Spread
  /**
   * The quickest tenth of the rounds over the quickest tenth of the floor's: what remains when
   * nothing disturbed them. Of processor time if that is known.
   */
  calmRatio: number
}

interface Samples {
  name: string
  note: string
  wallUs: number[]
  cpuUs: number[]
  ratio: number[]
  cpuRatio: number[]
}

/** Median, least and greatest of `values`. */
export function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  const median = sorted.length % 2 === 0 ? ((sorted[middle - 1] ?? upper) + upper) / 2 : upper
  return { median, min: sorted[0] ?? Number.NaN, max: sorted.at(-1) ?? Number.NaN }
}

function record(samples: Samples, cost: Cost, base: Cost): void {
  samples.wallUs.push(cost.wallUs)
  samples.ratio.push(cost.wallUs / base.wallUs)
  if (cost.cpuUs !== undefined && base.cpuUs !== undefined) {
    samples.cpuUs.push(cost.cpuUs)
    samples.cpuRatio.push(cost.cpuUs / base.cpuUs)
  }
}

/**
 * Measures contenders against a floor.
 *
 * In each round the floor and every contender take one turn, starting at another one each time, so
 * that all are equally cold; ratios are taken within a round. All of it is repeated with
 * `generations` fresh sets of contenders, because two processes that run the same code may differ
 * by several percent for their whole life.
 *
 * @param open starts the floor and, after it, the contenders; always the same ones
 */
export async function compare(
  open: () => Promise<Contender[]>,
  options: { generations: number; rounds: number },
): Promise<Measured[]> {
  const all = new Map<string, Samples>()
  const samplesOf = ({ name, note }: Contender): Samples => {
    const key = `${name} ${note}`
    const known = all.get(key) ?? { name, note, wallUs: [], cpuUs: [], ratio: [], cpuRatio: [] }
    all.set(key, known)
    return known
  }
  for (let generation = 0; generation < options.generations; generation++) {
    const contenders = await open()
    try {
      await measure(contenders, options.rounds, samplesOf)
    } finally {
      await Promise.all(contenders.map((contender) => contender.close()))
    }
  }
  const [floor] = all.values()
  return [...all.values()].map((samples) => summarize(samples, floor ?? samples))
}

function summarize(samples: Samples, floor: Samples): Measured {
  const { name, note, wallUs, cpuUs, ratio, cpuRatio } = samples
  const byCpu = cpuUs.length > 0
  return {
    name,
    note,
    wallUs: spread(wallUs),
    ratio: spread(ratio),
    ...(byCpu && { cpuUs: spread(cpuUs), cpuRatio: spread(cpuRatio) }),
    calmRatio: byCpu ? calm(cpuUs) / calm(floor.cpuUs) : calm(wallUs) / calm(floor.wallUs),
  }
}

/** The slowest value of the quickest tenth. */
function calm(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 10)] ?? Number.NaN
}

async function measure(
  contenders: readonly Contender[],
  rounds: number,
  samplesOf: (contender: Contender) => Samples,
): Promise<void> {
  const [floor] = contenders
  if (!floor) throw new Error('There is nothing to measure')
  for (let round = 0; round < rounds; round++) {
    const costs = new Map<Contender, Cost>()
    for (const index of contenders.keys()) {
      const next = contenders[(round + index) % contenders.length] ?? floor
      costs.set(next, await next.round())
    }
    const base = costs.get(floor)
    for (const [contender, cost] of costs) if (base) record(samplesOf(contender), cost, base)
  }
}
