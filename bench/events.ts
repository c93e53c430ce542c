/**
 * Whether webhooks lose events: a server in Postgres emits events to three webhooks, one of which
 * answers errors for part of the time, and is killed twice while it emits and delivers.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { startPostgres } from '../test/postgres/server.ts'
import type { Bench, Table } from './bench.ts'
import { buildForNode } from './build.ts'

const EVENTS = 10_000
const WEBHOOKS = ['a', 'b', 'c']
/** The webhook that is down for a while. */
const FAILING = 'b'
/** The shares of the events after which the server is killed. */
const KILLED_AT = [0.3, 0.7]
/** The shares of the events between which the webhook is down. */
const DOWN_SHARES = [0.1, 0.5] as const
/** How long nothing may arrive, in milliseconds. A killed process's lease lasts a minute. */
const PATIENCE_MS = 180_000

/** What a webhook has received. */
class Webhook {
  readonly accepted = new Set<number>()
  duplicates = 0
  /** Events that arrived after a later one, other than duplicates. */
  disordered = 0
  rejected = 0
  last = -1

  accept(number: number): void {
    if (this.accepted.has(number)) this.duplicates++
    else if (number < this.last) this.disordered++
    this.accepted.add(number)
    this.last = Math.max(this.last, number)
  }
}

async function run(total: number): Promise<Table> {
  const webhooks = new Map(WEBHOOKS.map((name) => [name, new Webhook()]))
  let isDown = false
  let lastArrival = Date.now()
  const receive = createServer((request, response) => {
    const webhook = webhooks.get(request.url?.slice(1) ?? '')
    void json(request).then((body) => {
      lastArrival = Date.now()
      const { data } = body as { data: { number: number } }
      if (webhook === webhooks.get(FAILING) && isDown) {
        if (webhook) webhook.rejected++
        response.writeHead(503).end()
        return
      }
      webhook?.accept(data.number)
      response.writeHead(204).end()
    })
  })
  receive.listen(0, '127.0.0.1')
  await once(receive, 'listening')
  const receiver = `http://127.0.0.1:${(receive.address() as AddressInfo).port}`
  const database = await startPostgres()
  const script = await buildForNode('events-child.ts')
  const urls = WEBHOOKS.map((name) => `https://hooks.example.net/${name}`).join(' ')

  let emitted = -1
  let kills = 0
  const start = (): ChildProcess => {
    const args = [database.url, receiver, String(emitted + 1), String(total), '50']
    // Only the first process subscribes
    return fork(script, kills === 0 ? [...args, urls] : args)
  }
  const startedAt = Date.now()
  let child = start()
  const watch = (): void => {
    child.on('message', (message) => {
      if (typeof message !== 'number') return
      emitted = message
      const share = emitted / total
      isDown = share >= DOWN_SHARES[0] && share < DOWN_SHARES[1]
    })
  }
  watch()
  try {
    for (const share of KILLED_AT) {
      while (emitted < share * total) await sleep(20)
      child.kill('SIGKILL')
      await once(child, 'exit')
      kills++
      child = start()
      watch()
    }
    const isComplete = (): boolean =>
      [...webhooks.values()].every(({ accepted }) => accepted.size === total)
    while (!isComplete() && Date.now() - lastArrival < PATIENCE_MS) await sleep(200)
    // Deliveries that are repeated would arrive now
    await sleep(2_000)
  } finally {
    child.kill('SIGKILL')
    await database.stop()
    receive.close()
    receive.closeAllConnections()
  }
  const seconds = (Date.now() - startedAt) / 1000
  const rows = [...webhooks].map(([name, { accepted, duplicates, disordered, rejected }]) => ({
    name: name === FAILING ? `${name}, down for part of the time` : name,
    ...{ received: accepted.size, lost: total - accepted.size, duplicates, disordered, rejected },
  }))
  const failures = rows.filter(({ lost, disordered }) => lost > 0 || disordered > 0)
  if (failures.length > 0) throw new Error(`Events were lost: ${JSON.stringify(rows)}`)
  return {
    label: 'webhook',
    goal: `lost 0, out of order 0; the server was killed ${kills} times in ${seconds.toFixed(0)} s`,
    head: ['', 'received', 'lost', 'duplicates', 'out of order', 'rejected'],
    rows: rows.map(({ name, received, lost, duplicates, disordered, rejected }) => [
      name,
      ...[received, lost, duplicates, disordered, rejected].map(String),
    ]),
    data: { total, kills, seconds, rows },
  }
}

export const bench: Bench = {
  title: `${EVENTS} events to ${WEBHOOKS.length} webhooks, with kill -9 and a receiver that is down`,
  tables: async ({ scale }) => [await run(Math.ceil(EVENTS * Math.min(1, scale)))],
}
