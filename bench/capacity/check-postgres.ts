/** Checks the model of processes that share a Postgres database, with a socket for each client. */
import { template } from '../requests.ts'
import { startFleet, type Fleet, type FleetCounts } from './fleet.ts'
import type { Load } from './load.ts'
import { pace, pause, repeatWithin, type Checked, type Compared } from './measured.ts'
import { cpuOf, openingSession, planPostgres, POSTGRES, streamMemoryMb } from './postgres.ts'
import { post, ProcessClients } from './process-clients.ts'

const PROCESSES = 3
const OPENED_AT_ONCE = 16
const BATCH = 100
/** How long clients with and without a session may take to connect, in seconds each. */
const OPENING_SECONDS = 20
/** Calls and changes are counted for this time each. */
const SECONDS = 6
/** Changes that are announced at once. */
const BURST = 300
/** The batches in which they are stored: two in each process, of those that come first and of the others. */
const BURST_BATCHES = 2 * PROCESSES
/** How often it is checked whether they arrived, every 100 ms at most. */
const MAX_WAITS = 150
/** Clients that are not measured. */
const WARM_CLIENTS = 30
const echo = { name: 'echo', arguments: { text: 'The quick brown fox' } }

/** Measures what processes and their database do while `load` is applied. */
export async function checkPostgres(load: Load): Promise<Checked> {
  const fleet = await startFleet(PROCESSES, load.pool)
  const clients = new ProcessClients()
  try {
    return await measure(fleet, clients, load)
  } finally {
    clients.close()
    await fleet.stop()
  }
}

async function measure(fleet: Fleet, clients: ProcessClients, load: Load): Promise<Checked> {
  const compared: Compared[] = []
  const add: Add = (name, per, predicted, measured) => {
    compared.push({ name, per, predicted, measured })
  }
  const { count, sessions } = await connect(fleet, clients, load, add)
  const applied = { ...load, clients: count, sessions: sessions / count, handlerMs: 0 }
  await apply(fleet, clients, { ...applied, processes: PROCESSES }, add)
  return { clients: count, sessions, compared }
}

/** Adds a figure to the table. */
type Add = (name: string, per: string, predicted: number, measured: number) => void

/** Opens all clients, and compares what each takes. */
async function connect(fleet: Fleet, clients: ProcessClients, load: Load, add: Add) {
  let next = 0
  const open = async (kind: 'openSession' | 'openListener', count: number): Promise<number> => {
    const size = Math.min(BATCH, count)
    const batches = await repeatWithin(OPENING_SECONDS, Math.ceil(count / size), async () => {
      let left = size
      const lane = async (): Promise<void> => {
        while (left-- > 0) {
          const client = next++
          await clients[kind](fleet.urls[client % PROCESSES] ?? '', client)
        }
      }
      await Promise.all(Array.from({ length: OPENED_AT_ONCE }, lane))
    })
    return batches * size
  }
  await open('openSession', WARM_CLIENTS)
  await open('openListener', WARM_CLIENTS)

  const first = openingSession(load)
  let sessions = 0
  const opened = await during(fleet, async () => {
    sessions = await open('openSession', Math.round(load.clients * load.sessions))
  })
  add('queries', 'session opened', first.queries, opened.queries / sessions)
  add('rows written', 'session opened', first.rows, opened.rowsWritten / sessions)
  const notified = first.notifications * PROCESSES
  add('notifications received', 'session opened', notified, opened.notified / sessions)
  add('memory, in KB', 'session', POSTGRES.kbPerSession, opened.heapBytes / sessions / 1_000)
  add('database, in KB', 'session', POSTGRES.kbOfRow, opened.databaseBytes / sessions / 1_000)
  let listeners = 0
  const listening = await during(fleet, async () => {
    listeners = await open('openListener', load.clients - sessions)
  })
  add('memory, in KB', 'listener', POSTGRES.kbPerListener, listening.heapBytes / listeners / 1_000)

  const count = sessions + listeners + 2 * WARM_CLIENTS
  const all = { clients: count, sessions: (sessions + WARM_CLIENTS) / count }
  const heapBytes = opened.heapBytes + listening.heapBytes
  add('memory of all streams, in MB', 'in total', streamMemoryMb(all), heapBytes / 1e6)
  return { count, sessions: sessions + WARM_CLIENTS }
}

/** Calls tools and announces changes, and compares what the rates take. */
async function apply(fleet: Fleet, clients: ProcessClients, load: Load, add: Add): Promise<void> {
  const plan = planPostgres(load)
  const cpu = cpuOf(load, PROCESSES)
  // Each process stores the uses of its sessions once in this time
  const startedAt = performance.now()
  const all = await during(fleet, async () => {
    const idle = await during(fleet, () => pause(SECONDS * 1_000))
    const idleMs = idle.cpuUs / idle.seconds / 1_000
    /** The CPU time without that of the comments that were sent at the same time, in milliseconds. */
    const ownMs = ({ cpuUs, seconds }: Used): number => cpuUs / 1_000 - idleMs * seconds
    add('CPU of comments, in ms', 'per second', (cpu['keep-alive comments'] ?? 0) * 1_000, idleMs)
    let n = 0
    let calls = 0
    const called = await during(fleet, async () => {
      calls = await pace(load.calls, SECONDS, (each) => {
        const sessionId = clients.sessions[n++ % clients.sessions.length]
        const isModern = each % load.calls >= load.calls * load.sessions
        const session = isModern ? undefined : { revision: '2025-11-25', sessionId }
        return post(fleet.urls[n % PROCESSES] ?? '', template('tools/call', echo, session), n)
      })
    })
    const perCall = load.calls / calls
    add('queries', 'calls, per second', plan.queries['calls'] ?? 0, called.queries * perCall)
    add('CPU, in ms', 'calls, per second', (cpu['calls'] ?? 0) * 1_000, ownMs(called) * perCall)

    const received = clients.received
    let changes = 0
    const changed = await during(fleet, async () => {
      changes = await pace(load.changes, SECONDS, async (each) => {
        fleet.announce(each, (each * 997) % load.clients)
      })
    })
    const perChange = load.changes / changes
    add(
      'changes received',
      'changes, per second',
      load.changes,
      (clients.received - received) * perChange,
    )
    add('queries', 'changes, per second', plan.queries['changes'] ?? 0, changed.queries * perChange)
    add(
      'rows inserted, and deleted later',
      'changes, per second',
      load.changes,
      changed.changesInserted * perChange,
    )
    const notifications = (plan.notifications['changes'] ?? 0) * PROCESSES
    add(
      'notifications received',
      'changes, per second',
      notifications,
      changed.notified * perChange,
    )
    add(
      'CPU, in ms',
      'changes, per second',
      (cpu['changes'] ?? 0) * 1_000,
      ownMs(changed) * perChange,
    )

    const burst = await during(fleet, async () => {
      const all = clients.received + BURST
      for (let each = 0; each < BURST; each++) fleet.announce(each, each)
      for (let waits = 0; clients.received < all && waits < MAX_WAITS; waits++) await pause(100)
    })
    add('queries', '300 changes at once', BURST_BATCHES * (1 + PROCESSES), burst.queries)
    const eachUs = PROCESSES * POSTGRES.lookupUs + POSTGRES.sendUs
    const batchUs = POSTGRES.announceUs + PROCESSES * POSTGRES.changeUs
    const burstMs = (BURST * eachUs + BURST_BATCHES * batchUs) / 1_000
    add('CPU, in ms', '300 changes at once', burstMs, ownMs(burst))
    await pause(POSTGRES.touchSeconds * 1_000 - (performance.now() - startedAt))
  })
  const seconds = (performance.now() - startedAt) / 1_000
  add(
    'rows that record the use of sessions',
    'per second',
    plan.rowsWritten['last uses'] ?? 0,
    all.sessionUpdates / seconds,
  )
}

/** What was counted between two moments, which are `seconds` apart. */
interface Used extends FleetCounts {
  readonly seconds: number
}

async function during(fleet: Fleet, work: () => Promise<unknown>): Promise<Used> {
  const before = await fleet.counts()
  const startedAt = performance.now()
  await work()
  const after = await fleet.counts()
  const seconds = (performance.now() - startedAt) / 1_000
  const names = Object.keys(after) as (keyof FleetCounts)[]
  for (const name of names) after[name] -= before[name]
  return { ...after, seconds }
}
