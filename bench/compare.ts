/**
 * Interleaved comparison: the machine is noisy, so a measurement only counts together with the floor's
 * in the same round.
 */

/** The cost of one call, in microseconds. */
export interface Cost {
  /** Wall time. */
  wallUs: number
  /** CPU time of the process that made the call, over all its threads, if available. */
  cpuUs?: number
}

/** Something that can be timed: an SDK in one configuration, or the floor. */
export interface Contender {
  /** The row label, such as `official v2`. */
  name: string
  /** The relevant properties of the configuration: `session`, `stateless`… */
  note: string
  /** Runs one round and returns the cost of one call. */
  round(): Promise<Cost>
  /** Stops everything that was started. */
  close(): Promise<void>
}

/** A median with minimum and maximum. */
export interface Spread {
  median: number
  min: number
  max: number
}

/** The measurements of one contender. */
export interface Measured {
  name: string
  note: string
  /** Wall time per call, in microseconds. */
  wallUs: Spread
  /** Wall time per call relative to the floor's in the same round. */
  ratio: Spread
  /** CPU time per call, in microseconds. */
  cpuUs?: Spread
  /** The ratio of CPU time, which other work on the machine disturbs less. */
  cpuRatio?: Spread
  /**
   * The fastest tenth of the rounds relative to the fastest tenth of the floor's: the ratio without
   * disturbances. Of CPU time if available.
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

/** The median, minimum and maximum of `values`. */
export function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
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
 * In each round the floor and every contender take one turn, starting with a different one each time, so
 * that all are equally cold; ratios are computed within a round. Everything is repeated with
 * `generations` new sets of contenders, because two processes that run the same code may differ by
 * several percent throughout their lifetime.
 *
 * @param open Starts the floor, followed by the contenders; always the same ones.
 */
export async function compare(
  open: () => Promise<Contender[]>,
  options: { generations: number; rounds: number },
): Promise<Measured[]> {
  const samplesByContender = new Map<string, Samples>()
  const samplesOf = ({ name, note }: Contender): Samples => {
    const key = `${name} ${note}`
    const samples = samplesByContender.get(key) ?? {
      name,
      note,
      wallUs: [],
      cpuUs: [],
      ratio: [],
      cpuRatio: [],
    }
    samplesByContender.set(key, samples)
    return samples
  }
  for (let generation = 0; generation < options.generations; generation++) {
    const contenders = await open()
    try {
      await measure(contenders, options.rounds, samplesOf)
    } finally {
      await Promise.all(contenders.map((contender) => contender.close()))
    }
  }
  const [floor] = samplesByContender.values()
  return [...samplesByContender.values()].map((samples) => summarize(samples, floor ?? samples))
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
    calmRatio: byCpu
      ? fastestTenth(cpuUs) / fastestTenth(floor.cpuUs)
      : fastestTenth(wallUs) / fastestTenth(floor.wallUs),
  }
}

/** The slowest value of the fastest tenth. */
function fastestTenth(values: readonly number[]): number {
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
      const contender = contenders[(round + index) % contenders.length] ?? floor
      costs.set(contender, await contender.round())
    }
    const base = costs.get(floor)
    for (const [contender, cost] of costs) if (base) record(samplesOf(contender), cost, base)
  }
}
