/** Checks the model of Workers on workerd, with clients in the same workerd. */
import { readFileSync } from 'node:fs'
import { cpuUsOf } from '../cpu.ts'
import { startWithClients, type RunningWithClients } from '../objects-host.ts'
import { template } from '../requests.ts'
import type { Load } from './load.ts'
import { pace, pause, repeatWithin, type Checked, type Compared } from './measured.ts'
import { SHARDS } from './scale.ts'
import type { ClientsState } from './worker-clients.ts'
import type { WorkerCounts } from './worker.ts'
import { hubChangeUs, hubsConcerned, opening, planWorkers, WORKERS } from './workers.ts'

const BATCH = 100
/** How long clients with and without a session may take to connect, in seconds each. */
const OPENING_SECONDS = 20
/** Calls, changes and comments are counted for this time each. */
const SECONDS = 6
const ENDED_SESSIONS = 40
/** Clients that are not measured. */
const WARM_CLIENTS = 40
const echo = { name: 'echo', arguments: { text: 'The quick brown fox' } }

/** What was counted between two moments. */
interface Used extends WorkerCounts {
  readonly cpuUs: number | undefined
}

/** Measures what happens on workerd while `load` is applied. */
export async function checkWorkers(load: Load): Promise<Checked> {
  const workerd = await startWithClients('capacity/worker.ts', 'capacity/worker-clients.ts')
  try {
    return await measure(workerd, load)
  } finally {
    await workerd.stop()
  }
}

async function measure(workerd: RunningWithClients, load: Load): Promise<Checked> {
  const compared: Compared[] = []
  const add: Add = (name, per, predicted, measured) => {
    compared.push({ name, per, predicted, measured })
  }
  const { clients, sessions } = await connect(workerd, load, add)
  const applied = { ...load, clients, sessions: sessions / clients, handlerMs: 0, shards: SHARDS }
  await apply(workerd, applied, add)
  return { clients, sessions, compared }
}

/** Adds a figure to the table. */
type Add = (name: string, per: string, predicted: number, measured: number | undefined) => void

/** Opens all clients, and compares what each takes. */
async function connect(workerd: RunningWithClients, load: Load, add: Add) {
  const open = (kind: string, count: number): Promise<number> =>
    repeatWithin(OPENING_SECONDS, Math.ceil(count / BATCH), async () => {
      await command(workerd, `/open-${kind}?count=${Math.min(BATCH, count)}`)
    }).then((batches) => batches * Math.min(BATCH, count))

  // The tables of the hubs, and code that is compiled, are no costs of a client
  await open('sessions', WARM_CLIENTS)
  await open('listeners', WARM_CLIENTS)
  const before = memoryKb(workerd)
  const first = opening(load)
  let sessions = 0
  const opened = await during(workerd, async () => {
    sessions = await open('sessions', Math.round(load.clients * load.sessions))
  })
  add(
    'requests to its object',
    'session opened',
    first.sessionRequests,
    opened.sessionRequests / sessions,
  )
  add(
    'requests to a hub',
    'session opened',
    first.sessionHubRequests,
    opened.hubRequests / sessions,
  )
  add(
    'rows written, its object',
    'session opened',
    first.sessionRows,
    opened.sessionRowsWritten / sessions,
  )
  add(
    'rows written, its hub',
    'session opened',
    first.sessionHubRows,
    opened.hubRowsWritten / sessions,
  )
  add(
    'rows read',
    'session opened',
    WORKERS.rowsReadOfOpening,
    (opened.hubRowsRead + opened.sessionRowsRead) / sessions,
  )
  const openedAt = performance.now()
  let listeners = 0
  const listening = await during(workerd, async () => {
    listeners = await open('listeners', load.clients - sessions)
  })
  add('requests to a hub', 'listener opened', 1, listening.hubRequests / listeners)
  add('rows written', 'listener opened', 0, listening.hubRowsWritten)

  const clients = sessions + listeners + 2 * WARM_CLIENTS
  await pause(1_000 * (WORKERS.evictSeconds + 5))
  // A use within the first minute of a session is not stored
  await pause(1_000 * WORKERS.touchSeconds - (performance.now() - openedAt))
  const after = memoryKb(workerd)
  add(
    'memory of both ends, in KB',
    'stream',
    WORKERS.kbPerStream,
    after && before && (after - before) / (clients - 2 * WARM_CLIENTS),
  )
  return { clients, sessions: sessions + WARM_CLIENTS }
}

/** Calls tools, announces changes and ends sessions, and compares what the rates take. */
async function apply(workerd: RunningWithClients, load: Load, add: Add): Promise<void> {
  const plan = planWorkers(load)
  const idle = await during(workerd, () => pause(SECONDS * 1_000))
  const comments = (load.clients / WORKERS.keepAliveSeconds) * WORKERS.keepAliveUs
  add(
    'CPU of comments, in ms',
    'per second',
    comments / 1_000,
    idle.cpuUs && idle.cpuUs / SECONDS / 1_000,
  )

  const { sessions: ids } = await command(workerd, '/state')
  const sessionCalls = load.calls * load.sessions
  let n = 0
  const call = async (isModern: boolean): Promise<void> => {
    const session = { revision: '2025-11-25', sessionId: ids[n++ % ids.length] }
    const { headers, body } = template('tools/call', echo, isModern ? undefined : session)
    await request(workerd, '/mcp', { method: 'POST', headers, body: body(n) })
  }
  let calls = 0
  const called = await during(workerd, async () => {
    calls = await pace(load.calls, SECONDS, (each) => call(each % load.calls >= sessionCalls))
  })
  const perSecond = load.calls / calls
  add(
    'requests to objects',
    'calls, per second',
    plan.objectRequests['calls'] ?? 0,
    called.sessionRequests * perSecond,
  )
  add(
    'rows written',
    'calls, per second',
    plan.rowsWritten['calls'] ?? 0,
    called.sessionRowsWritten * perSecond,
  )
  add(
    'rows read',
    'calls, per second',
    plan.rowsRead['calls'] ?? 0,
    called.sessionRowsRead * perSecond,
  )
  const callUs = load.calls * WORKERS.callUs + sessionCalls * WORKERS.coldObjectUs
  add('CPU, in ms', 'calls, per second', callUs / 1_000, cpuMs(called, idle))

  const { received } = await command(workerd, '/state')
  let changes = 0
  const changed = await during(workerd, async () => {
    // Clients of both kinds in turn
    changes = await pace(load.changes, SECONDS, (each) => {
      return request(workerd, `/change?client=${(each * 997) % load.clients}`)
    })
  })
  const perChange = load.changes / changes
  const concerned = hubsConcerned(load, SHARDS)
  add(
    'changes received',
    'changes, per second',
    load.changes,
    ((await command(workerd, '/state')).received - received) * perChange,
  )
  add(
    'requests to objects',
    'changes, per second',
    plan.objectRequests['changes'] ?? 0,
    changed.hubRequests * perChange,
  )
  add(
    'rows written, and deleted later',
    'changes, per second',
    load.changes * concerned,
    changed.hubRowsWritten * perChange,
  )
  add(
    'rows read',
    'changes, per second',
    load.changes * SHARDS * WORKERS.hubRowsReadOfChange,
    changed.hubRowsRead * perChange,
  )
  const changeUs = load.changes * SHARDS * hubChangeUs(load, SHARDS)
  add('CPU, in ms', 'changes, per second', changeUs / 1_000, cpuMs(changed, idle))

  const ended = await during(workerd, async () => {
    for (const id of ids.slice(0, ENDED_SESSIONS)) {
      await request(workerd, '/mcp', { method: 'DELETE', headers: { 'mcp-session-id': id } })
    }
  })
  const { hubRowsWritten, hubRequests } = ended
  add('requests to a hub', 'session ended', 1, hubRequests / ENDED_SESSIONS)
  add(
    'rows deleted, its hub',
    'session ended',
    opening(load).endedHubRows,
    hubRowsWritten / ENDED_SESSIONS,
  )
}

/** The CPU time of what was paced, without the comments that were sent at the same time. */
function cpuMs({ cpuUs }: Used, { cpuUs: idleUs }: Used): number | undefined {
  return cpuUs && idleUs && (cpuUs - idleUs) / SECONDS / 1_000
}

async function during(workerd: RunningWithClients, work: () => Promise<unknown>): Promise<Used> {
  const [before, cpu] = [await countsOf(workerd), cpuUsOf(workerd.pid)]
  await work()
  const [after, cpuAfter] = [await countsOf(workerd), cpuUsOf(workerd.pid)]
  const names = Object.keys(after) as (keyof WorkerCounts)[]
  for (const name of names) after[name] -= before[name]
  return { ...after, cpuUs: cpuAfter && cpu && cpuAfter - cpu }
}

async function countsOf(workerd: RunningWithClients): Promise<WorkerCounts> {
  return JSON.parse(await request(workerd, '/counts')) as WorkerCounts
}

async function request(
  { urlOf }: RunningWithClients,
  path: string,
  init?: RequestInit,
): Promise<string> {
  const response = await fetch(urlOf(path), init)
  const text = await response.text()
  if (!response.ok) throw new Error(`"${path}" was answered ${response.status}: ${text}`)
  return text
}

async function command({ clients }: RunningWithClients, path: string): Promise<ClientsState> {
  const response = await fetch(clients(path))
  const text = await response.text()
  if (!response.ok) throw new Error(`"${path}" failed: ${text}`)
  const state = JSON.parse(text) as ClientsState
  if (state.ended > 0) throw new Error(`${state.ended} streams ended`)
  return state
}

function memoryKb({ pid }: RunningWithClients): number | undefined {
  try {
    return Number(/VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
  } catch {
    return undefined
  }
}
