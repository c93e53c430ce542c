// Three processes behind a proxy without sticky sessions, with Postgres between them. Clients of both
// eras are served by all processes at once. Then one process is killed while it works for many of
// them: nothing is lost, and nothing is done twice. `--quick` leaves out the second part.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { connect } from 'edgewise/client'
import { taskPolling } from 'edgewise/tasks'
import { connectOfficial, textOf, type Caller } from './clients.ts'
import { deploy } from './deployment.ts'

const { values: options } = parseArgs({ options: { quick: { type: 'boolean', default: false } } })
const CAKES = 10

await using deployment = await deploy()
const { sql } = deployment
await using legacy = await connectOfficial(deployment.url, 'legacy')
await using modern = await connectOfficial(deployment.url, 'modern')
const clients = { '2025-11-25': legacy, '2026-07-28': modern }

for (const [revision, client] of Object.entries(clients)) {
  await serveFromAll(revision, client)
  await askTheClient(revision, client)
}
await notifyAll()
assert.equal(await legacy.call('prove_dough'), 'The dough has risen')
console.log('A client that was disconnected resumed its call through another process')
if (!options.quick) await killOne()

async function serveFromAll(revision: string, client: Caller): Promise<void> {
  const names = new Set<string>()
  for (let call = 0; call < 6; call++) names.add(await client.call('which_process'))
  assert.deepEqual([...names].toSorted(), deployment.processes.toSorted())
  console.log(`${revision}: all processes answer one client`)
}

/** The answer arrives at another process than the one that asked. */
async function askTheClient(revision: string, client: Caller): Promise<void> {
  const text = await client.call('bake', { order: revision, cakes: 2 })
  assert.equal(text, `Order ${revision} was delivered to Harbour Street 1`)
  assert.deepEqual(client.asked, [`Where should order ${revision} be delivered?`])
  assert.deepEqual(await attempts(revision), { 'cake 1': 1, 'cake 2': 1, delivery: 1 })
  console.log(`${revision}: a question was answered through any process, each step ran once`)
}

/** Each process changes the price once. All clients are notified, whichever process has their stream. */
async function notifyAll(): Promise<void> {
  await legacy.watchMenu()
  await modern.watchMenu()
  for (const price of [21, 22, 23]) {
    const before = [legacy.changes(), modern.changes()]
    await modern.call('set_price', { price })
    await until(() => legacy.changes() > Number(before[0]) && modern.changes() > Number(before[1]))
    assert.equal(await legacy.readMenu(), `Cake: ${price}`)
  }
  console.log('Changes of each process reached the clients of all')
}

async function killOne(): Promise<void> {
  const [killed = ''] = deployment.processes
  const orders = (kind: string, count: number): string[] =>
    Array.from({ length: count }, (_, n) => `${kind} ${n}`)
  const inSessions = orders('session', 12)
  const asTasks = orders('task', 6)
  const withoutSession = orders('call', 6)

  const placed = [
    // A session resumes its call by itself
    ...inSessions.map((order) => legacy.call('bake', { order, cakes: CAKES })),
    ...asTasks.map(cater),
    // A call without a session ends with its connection: it is made again, as the same order
    ...withoutSession.map(async (order) => {
      for (;;) {
        const text = await modern.call('bake', { order, cakes: CAKES }).catch(() => undefined)
        if (text !== undefined) return text
      }
    }),
  ]
  await until(async () => (await attemptsOf(killed)) > 20)
  await deployment.kill(killed)
  console.log(
    `"${killed}" was killed after ${await attemptsOf(killed)} steps of ${placed.length} orders`,
  )
  const texts = await Promise.all(placed)
  for (const text of texts) assert.match(text, /was delivered to Harbour Street 1$|is ready$/)

  const done = await sql<{ order: string; parts: number }[]>`
    SELECT "order", count(*)::int AS parts FROM bakery.done GROUP BY 1`
  const parts = new Map(done.map(({ order, parts }) => [order, parts]))
  for (const order of [...inSessions, ...withoutSession]) assert.equal(parts.get(order), CAKES + 1)
  for (const order of asTasks) assert.equal(parts.get(order), CAKES)
  console.log('Nothing was lost: every cake was baked, every order was answered')

  for (const order of [...inSessions, ...asTasks]) {
    const repeated = Object.values(await attempts(order)).filter((count) => count > 1)
    // Only the step that was running when the process was killed may run again, because it is unknown
    // whether that step was done. Because of its key in the database, it is not done twice
    assert(repeated.length <= 1 && repeated.every((count) => count === 2), order)
  }
  console.log('Nothing was done twice: steps that had been recorded did not run again')

  const before = legacy.changes()
  await modern.call('set_price', { price: 30 })
  await until(() => legacy.changes() > before)
  console.log('The two processes that are left serve all clients')
}

/** Bakes a large order as a task, through a client that polls it. */
async function cater(order: string): Promise<string> {
  await using client = await connect(deployment.url, { extensions: [taskPolling()] })
  return textOf((await client.callTool('cater', { order, cakes: CAKES })).content)
}

/** How often each part of an order was tried. */
async function attempts(order: string): Promise<Record<string, number>> {
  const rows = await sql<{ part: string; count: number }[]>`
    SELECT part, count(*)::int AS count FROM bakery.attempts WHERE "order" = ${order} GROUP BY 1`
  return Object.fromEntries(rows.map(({ part, count }) => [part, count]))
}

/** How many parts of orders a process has tried. */
async function attemptsOf(instance: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    SELECT count(*)::int AS count FROM bakery.attempts WHERE instance = ${instance}`
  return row?.count ?? 0
}

async function until(check: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = performance.now() + 30_000; !(await check()); await sleep(20)) {
    if (performance.now() > end) throw new Error(`Waited in vain for ${String(check)}`)
  }
}
