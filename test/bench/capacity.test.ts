// The capacity model of the benchmarks: what a load takes on Workers, and of processes with Postgres.
import { describe, expect, it } from 'vitest'
import {
  capacityFlags,
  MILLION,
  readLoad,
  requireLoad,
  SECONDS_PER_MONTH,
  total,
  usage,
  type Load,
} from '../../bench/capacity/load.ts'
import { planPostgres, POSTGRES } from '../../bench/capacity/postgres.ts'
import { priceOf, ROWS_WRITTEN } from '../../bench/capacity/prices.ts'
import { hubsConcerned, opening, planWorkers, WORKERS } from '../../bench/capacity/workers.ts'

const NOTHING: Load = { ...MILLION, clients: 0, calls: 0, changes: 0, receivers: 0 }

/** All numbers of a value, by their path. */
function numbersIn(value: unknown, path = ''): [path: string, value: number][] {
  if (typeof value === 'number') return [[path, value]]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, part]) => numbersIn(part, `${path}/${key}`))
}

describe('the load', () => {
  it('is that of the design if no option is given', () => {
    expect(readLoad({})).toEqual(MILLION)
    expect(MILLION).toMatchObject({ clients: 1_000_000, calls: 10_000, changes: 1_000 })
  })

  it('concerns nobody if there are no clients', () => {
    expect(readLoad({ clients: '0' })).toMatchObject({ clients: 0, receivers: 0 })
  })

  it('has an option of the command line for each value', () => {
    expect(capacityFlags).toContain('stream-hours')
    const flags = Object.fromEntries(capacityFlags.map((flag) => [flag, '1']))
    expect(new Set(Object.values(readLoad(flags)))).toEqual(new Set([1]))
  })

  it.each([
    [{ clients: 'many' }, '"--clients" must be a whole number of at least 0'],
    [{ clients: '' }, '"--clients" must be a whole number of at least 0'],
    [{ clients: '1.5' }, '"--clients" must be a whole number of at least 0'],
    [{ calls: '-1' }, '"--calls" must be a number of at least 0'],
    [{ changes: 'Infinity' }, '"--changes" must be a number of at least 0'],
    [{ 'stream-hours': '0' }, '"--stream-hours" must be a number above 0'],
    [{ pool: '0' }, '"--pool" must be a whole number above 0'],
    [{ sessions: '1.1' }, '"--sessions" must be a share from 0 to 1'],
    [{ clients: '2', receivers: '3' }, '"--receivers" cannot be more than "--clients"'],
  ])('of %j is rejected with an error that names the option', (flags, message) => {
    expect(() => readLoad(flags)).toThrow(new RangeError(message))
  })

  it('is checked by both plans', () => {
    const load = { ...MILLION, calls: NaN }
    for (const plan of [requireLoad, planWorkers, planPostgres]) {
      expect(() => plan(load)).toThrow('"--calls" must be a number of at least 0')
    }
  })
})

describe.each([
  ['Workers', planWorkers],
  ['Postgres', planPostgres],
])('the plan for %s', (_platform, plan) => {
  it('contains finite numbers for no load at all, and breaks nothing', () => {
    const planned = plan(NOTHING)
    expect(numbersIn(planned).filter(([, value]) => !Number.isFinite(value))).toEqual([])
    for (const limit of planned.limits) expect(usage(limit)).toBeLessThan(1)
  })

  it.each(['clients', 'calls', 'changes', 'watched', 'receivers', 'handlerMs'] as const)(
    'never takes less when "%s" grows and the deployment stays the same',
    (name) => {
      const fixed = { ...MILLION, clients: 100_000, calls: 100, shards: 20, processes: 20 }
      let before = numbersIn(
        plan({ ...fixed, [name]: 0, ...(name === 'clients' && { receivers: 0 }) }),
      )
      for (const value of [1, 10, 1_000, 100_000]) {
        const load = { ...fixed, receivers: name === 'clients' ? 0 : 1, [name]: value }
        const after = new Map(numbersIn({ ...plan(load), limits: [] }))
        const less = before.filter(([path, number]) => {
          return !path.startsWith('/limits') && (after.get(path) ?? 0) < number
        })
        expect(less).toEqual([])
        before = [...after]
      }
    },
  )

  it('lists the limit that breaks first before all others', () => {
    const used = plan(MILLION).limits.map(usage)
    expect(used).toEqual(used.toSorted((a, b) => b - a))
  })
})

describe('the plan for Workers', () => {
  it('needs a hub for each 10,000 streams, and one at least', () => {
    const quiet = { ...MILLION, changes: 0 }
    expect(planWorkers(NOTHING).hubs).toBe(1)
    expect(planWorkers({ ...quiet, clients: 10_000 }).hubs).toBe(1)
    expect(planWorkers({ ...quiet, clients: 10_001 }).hubs).toBe(2)
    expect(planWorkers(quiet).hubs).toBe(100)
  })

  it('needs no more hubs for changes that concern few clients', () => {
    const plan = planWorkers(MILLION)
    expect(plan.hubs).toBe(100)
    expect(plan.hubCpu).toBeLessThanOrEqual(WORKERS.hubCpuShare)
  })

  it('adds hubs until each has time to send changes that concern many clients', () => {
    const load = { ...MILLION, changes: 10, receivers: 500_000 }
    const plan = planWorkers(load)
    expect(plan.hubs).toBeGreaterThan(100)
    expect(plan.hubCpu).toBeLessThanOrEqual(WORKERS.hubCpuShare)
    expect(planWorkers({ ...load, shards: plan.hubs - 1 }).hubCpu).toBeGreaterThan(0.5)
  })

  it('shows a hub that is overloaded by changes alone, which no number of hubs can help', () => {
    const { limits } = planWorkers({ ...MILLION, changes: 10_000 })
    const [first] = limits
    expect(first && usage(first)).toBeGreaterThan(1)
    expect(limits.find(({ name }) => name.startsWith('CPU'))?.needed).toBeGreaterThan(1)
  })

  it('counts what one session with one subscription and a stream takes', () => {
    expect(opening({ watched: 1 })).toEqual({
      sessionRequests: 4,
      sessionHubRequests: 2,
      sessionRows: 4,
      sessionHubRows: 3,
      endedHubRows: 2,
    })
  })

  it('stores the use of each session once a minute at most', () => {
    const rows = (calls: number): number | undefined =>
      planWorkers({ ...MILLION, clients: 600, sessions: 1, calls, receivers: 0 }).rowsWritten[
        'calls'
      ]
    expect(rows(4)).toBe(4)
    expect(rows(1_000)).toBe(10)
  })

  it('sends each change to every hub, and stores it where a session is concerned', () => {
    const load = { ...MILLION, changes: 3, shards: 4, receivers: 1, sessions: 1 }
    const { objectRequests, rowsWritten } = planWorkers(load)
    expect(objectRequests['changes']).toBe(12)
    // One hub for each change; the row is deleted later
    expect(rowsWritten['changes']).toBeCloseTo(6)
    expect(planWorkers({ ...load, sessions: 0 }).rowsWritten['changes']).toBe(0)
    expect(hubsConcerned({ ...load, receivers: 2 }, 2)).toBeCloseTo(1.5)
  })

  it('costs the plan and nothing else while everything is included', () => {
    expect(total(planWorkers({ ...NOTHING, clients: 10 }).money)).toBe(5)
    expect(priceOf(ROWS_WRITTEN, 50_000_000)).toBe(0)
    expect(priceOf(ROWS_WRITTEN, 60_000_000)).toBe(10)
  })

  it('costs 0.30 dollars for each further million calls of 2026-07-28, and their CPU', () => {
    const calls = 110_000_000 / SECONDS_PER_MONTH
    const { money } = planWorkers({ ...NOTHING, sessions: 0, calls, handlerMs: 0.72 })
    expect(money['requests to the Worker']).toBeCloseTo(30)
    // 110 million times 1 ms, without the 30 million that are included
    expect(money['CPU']).toBeCloseTo(1.6)
    expect(total(money)).toBeCloseTo(36.6)
  })
})

describe('the plan for Postgres', () => {
  it('needs one query for each call of a session, and none for others', () => {
    expect(planPostgres({ ...MILLION, calls: 8, sessions: 0.25 }).queries['calls']).toBe(2)
    expect(planPostgres({ ...MILLION, sessions: 0 }).queries['calls']).toBe(0)
  })

  it('sends one notification for each change to every process, which reads it', () => {
    const load = { ...NOTHING, changes: 10, processes: 3 }
    const { notifications, notificationsReceived, queries } = planPostgres(load)
    expect(notifications['changes']).toBe(10)
    expect(queries['changes']).toBe(40)
    // And a heartbeat of each process every five seconds, to itself
    expect(notificationsReceived).toBeCloseTo(30.6)
  })

  it('reads changes in batches when there are many', () => {
    const { queries } = planPostgres({ ...NOTHING, changes: 1_000, processes: 3 })
    expect(queries['changes']).toBe(4 * POSTGRES.batchesPerSecond)
  })

  it('stores the use of each session with a stream once a minute', () => {
    expect(planPostgres({ ...MILLION, sessions: 0.6 }).rowsWritten['last uses']).toBe(10_000)
  })

  it('needs as many processes as the memory of the streams', () => {
    const load = { ...NOTHING, clients: 100_000, sessions: 0, memory: 200 }
    expect(planPostgres(load).memoryMb).toBe(2_000)
    expect(planPostgres(load).processes).toBe(10)
  })

  it('counts the connections of each pool and one that listens', () => {
    const { connections, limits } = planPostgres({ ...NOTHING, processes: 10, pool: 9 })
    expect(connections).toBe(100)
    expect(limits[0]).toMatchObject({ needed: 100, available: 100 })
  })

  it('names the number of sessions first, whose default is far below a million', () => {
    const [first] = planPostgres({ ...MILLION, changes: 1 }).limits
    expect(first).toMatchObject({ name: 'sessions', needed: 500_000, available: 10_000 })
    expect(first?.setting).toContain('maxSessions')
  })
})
