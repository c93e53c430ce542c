/** What a deployment has to carry, and how a plan for it is reported. */

/** The load and the choices of an operator. Rates are per second, and averages. */
export interface Load {
  /** Connected clients, each with one open stream. */
  readonly clients: number
  /** Calls of tools, evenly distributed over the clients. */
  readonly calls: number
  /** Updates of resources that the server announces. */
  readonly changes: number
  /** The share of clients of a revision up to 2025-11-25, which have sessions: 0 to 1. */
  readonly sessions: number
  /** The resources that each client subscribes to. */
  readonly watched: number
  /** The clients that one change concerns. */
  readonly receivers: number
  /** The hours after which a stream ends, and its client connects again. */
  readonly streamHours: number
  /** The hours after which a session ends. */
  readonly sessionHours: number
  /** The CPU time of your own code in a call, in milliseconds. */
  readonly handlerMs: number
  /** Hub objects on Workers; 0 for as many as the load needs. */
  readonly shards: number
  /** Processes that share a database; 0 for as many as the load needs. */
  readonly processes: number
  /** Connections of each process to the database, without the one that listens. */
  readonly pool: number
  /** The memory of each process for streams, in MB. */
  readonly memory: number
}

/** The load that the design aims at. */
export const MILLION: Load = {
  clients: 1_000_000,
  calls: 10_000,
  changes: 1_000,
  sessions: 0.5,
  watched: 1,
  receivers: 1,
  streamHours: 1,
  sessionHours: 24,
  handlerMs: 1,
  shards: 0,
  processes: 0,
  pool: 10,
  memory: 1_000,
}

/** Options whose value cannot be 0. */
const POSITIVE: ReadonlySet<string> = new Set(['streamHours', 'sessionHours', 'pool', 'memory'])
/** Options that are counted. */
const WHOLE: ReadonlySet<string> = new Set(['clients', 'watched', 'shards', 'processes', 'pool'])

/** The command line's name of an option. */
export function flagOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** The names of all options. */
export const LOAD_NAMES = Object.keys(MILLION) as readonly (keyof Load)[]

/** The options of the command line. */
export const capacityFlags: readonly string[] = LOAD_NAMES.map(flagOf)

/**
 * Reads a load from the options of the command line; those that are missing are of the million.
 *
 * @throws {RangeError} If an option is not a number that it can be.
 */
export function readLoad(flags: Readonly<Record<string, unknown>>): Load {
  const given = LOAD_NAMES.flatMap((name) => {
    const text = flags[flagOf(name)]
    return text === undefined ? [] : [[name, text === '' ? NaN : Number(text)] as const]
  })
  const load: Load = { ...MILLION, ...Object.fromEntries(given) }
  // Without clients, no change concerns one
  const receivers = flags['receivers'] === undefined ? Math.min(1, load.clients) : load.receivers
  return requireLoad({ ...load, receivers })
}

/**
 * Returns a load that makes sense.
 *
 * @throws {RangeError} If a value is not a number that it can be.
 */
export function requireLoad(load: Load): Load {
  for (const name of LOAD_NAMES) {
    const value = load[name]
    const kind = WHOLE.has(name) ? 'a whole number' : 'a number'
    const range = POSITIVE.has(name) ? 'above 0' : 'of at least 0'
    const isValid =
      Number.isFinite(value) &&
      (POSITIVE.has(name) ? value > 0 : value >= 0) &&
      (!WHOLE.has(name) || Number.isInteger(value))
    if (!isValid) throw new RangeError(`"--${flagOf(name)}" must be ${kind} ${range}`)
  }
  if (load.sessions > 1) throw new RangeError('"--sessions" must be a share from 0 to 1')
  if (load.receivers > load.clients) {
    throw new RangeError('"--receivers" cannot be more than "--clients"')
  }
  return load
}

/** A limit, how much of it the load takes, and what moves it. */
export interface Limit {
  readonly name: string
  readonly needed: number
  readonly available: number
  /** The setting that moves it. */
  readonly setting: string
}

/** How much of a limit is used; above 1 it breaks. */
export function usage({ needed, available }: Limit): number {
  return needed / available
}

/** Limits in the order in which they break when the load grows. */
export function inOrder(limits: readonly Limit[]): Limit[] {
  return limits.toSorted((a, b) => usage(b) - usage(a))
}

export const SECONDS_PER_HOUR = 3_600
/** Of 30 days. */
export const SECONDS_PER_MONTH = 2_592_000

/** The sum of a record's values. */
export function total(parts: Readonly<Record<string, number>>): number {
  return Object.values(parts).reduce((sum, part) => sum + part, 0)
}
