/** The benchmark of events on workerd: its object is evicted, and workerd is restarted. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { MiniflareOptions } from 'miniflare'
import { startWorker, type Workerd } from '../test/runtimes/cloudflare/workerd.ts'
import type { Table } from './bench.ts'
import { buildWorker } from './build.ts'
import { startReceiver, subscription, urls } from './events-receiver.ts'

/** How many events one request emits. */
const BATCH = 100
/**
 * What happens after which share of the events was delivered. A delivery that is cut off holds its
 * lease for a minute, so each share with a restart or an eviction takes a minute.
 */
const FAULTS = [
  [0.1, 'down'],
  [0.2, 'evict'],
  [0.5, 'up'],
  [0.6, 'restart'],
  [0.6, 'evict'],
] as const

/** Emits events to webhooks on workerd, and finds what is lost. */
export async function runOnWorkerd(total: number): Promise<Table> {
  const receiver = await startReceiver()
  const options: Partial<MiniflareOptions> = {
    bindings: { RECEIVER: receiver.url },
    durableObjects: {
      MCP_SESSION: { className: 'McpSession', useSQLite: true },
      MCP_HUB: { className: 'McpHub', useSQLite: true },
      MCP_EVENTS: { className: 'McpEvents', useSQLite: true },
    },
  }
  const workerd = await startWorker(await buildWorker('events-worker.ts'), options)
  const startedAt = Date.now()
  const counts = { evict: 0, restart: 0 }
  try {
    for (const url of urls) await subscribe(workerd, url)
    const emitting = emitAll(workerd, total)
    for (const [share, fault] of FAULTS) {
      await receiver.reached(share * total)
      if (fault === 'down' || fault === 'up') {
        receiver.isDown = fault === 'down'
        continue
      }
      counts[fault]++
      if (fault === 'restart') await workerd.restart()
      else await workerd.get('/evict')
    }
    await emitting
    await receiver.settled(total)
  } finally {
    await workerd.stop()
    receiver.stop()
  }
  const faults = `${counts.evict} evictions and ${counts.restart} restart of workerd`
  return receiver.table(total, { label: 'on workerd', faults, startedAt })
}

/** Emits all events in order. A request that fails is repeated: its events have the same ids. */
async function emitAll(workerd: Workerd, total: number): Promise<void> {
  for (let from = 0; from < total;) {
    const count = Math.min(BATCH, total - from)
    const response = await workerd.get(`/emit?from=${from}&count=${count}`).catch(() => undefined)
    if (response?.ok) from += count
    else await sleep(100)
  }
}

async function subscribe(workerd: Workerd, url: string): Promise<void> {
  const { headers, body } = subscription(url)
  const request = new Request('http://localhost/mcp', { method: 'POST', headers, body })
  const answer = await (await workerd.handle(request)).text()
  if (!answer.includes('"result"')) throw new Error(answer)
}
