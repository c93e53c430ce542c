/** Receives the events of the benchmark of events, and finds what is lost, repeated or out of order. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Table } from './bench.ts'

const WEBHOOKS = ['a', 'b', 'c']
/** The webhook that is down for a while. */
const FAILING = 'b'
/** How long nothing may arrive, in milliseconds. A killed process's lease lasts a minute. */
const PATIENCE_MS = 180_000

/** The URLs to which the webhooks subscribe. A server sends their requests to the receiver instead. */
export const urls = WEBHOOKS.map((name) => `https://hooks.example.net/${name}`)

/** The request that subscribes a webhook. */
export function subscription(url: string): { headers: Record<string, string>; body: string } {
  const params = {
    name: 'build.finished',
    delivery: { url, secret: `whsec_${'A'.repeat(43)}=` },
    ttlMs: 86_400_000,
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  }
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'events/subscribe',
  }
  return {
    headers,
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'events/subscribe', params }),
  }
}

/** What a webhook has received. */
class Webhook {
  /** The id of each event, by the number in its payload. */
  readonly accepted = new Map<number, string>()
  /** Events that arrived again with the same id. */
  duplicates = 0
  /** Events that arrived again with another id. */
  renamed = 0
  /** Events that arrived after a later one, other than duplicates. */
  disordered = 0
  rejected = 0
  last = -1

  accept(number: number, id: string): void {
    const before = this.accepted.get(number)
    if (before === id) this.duplicates++
    else if (before !== undefined) this.renamed++
    else if (number < this.last) this.disordered++
    this.accepted.set(number, id)
    this.last = Math.max(this.last, number)
  }
}

/** Receives the requests of all webhooks. */
export interface Receiver {
  readonly url: string
  /** Whether one of the webhooks answers errors. */
  isDown: boolean
  /** Waits until a webhook that is never down has accepted so many events, or nothing arrives for too long. */
  reached(count: number): Promise<void>
  /** Waits until all events have arrived, or nothing has arrived for too long. */
  settled(total: number): Promise<void>
  /**
   * Creates the table of what arrived.
   *
   * @throws {Error} If an event was lost, arrived out of order, or arrived again with another id.
   */
  table(total: number, about: { label: string; faults: string; startedAt: number }): Table
  stop(): void
}

/** Starts the receiver. */
export async function startReceiver(): Promise<Receiver> {
  const webhooks = new Map(WEBHOOKS.map((name) => [name, new Webhook()]))
  let lastArrival = Date.now()
  const server = createServer((request, response) => {
    const name = request.url?.slice(1) ?? ''
    const webhook = webhooks.get(name)
    void json(request).then((body) => {
      lastArrival = Date.now()
      const { eventId, data } = body as { eventId: string; data: { number: number } }
      if (receiver.isDown && name === FAILING) {
        if (webhook) webhook.rejected++
        response.writeHead(503).end()
        return
      }
      webhook?.accept(data.number, eventId)
      response.writeHead(204).end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const [first] = webhooks.values()
  const isSilent = (): boolean => Date.now() - lastArrival > PATIENCE_MS
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    isDown: false,
    async reached(count) {
      while (first && first.accepted.size < count && !isSilent()) await sleep(20)
    },
    async settled(total) {
      const isComplete = (): boolean =>
        [...webhooks.values()].every(({ accepted }) => accepted.size === total)
      while (!isComplete() && !isSilent()) await sleep(200)
      // Deliveries that are repeated would arrive now
      await sleep(2_000)
    },
    table(total, { label, faults, startedAt }) {
      const seconds = (Date.now() - startedAt) / 1000
      const rows = [...webhooks].map(([name, { accepted, ...counts }]) => ({
        name: name === FAILING ? `${name}, down for part of the time` : name,
        ...counts,
        ...{ received: accepted.size, lost: total - accepted.size },
      }))
      if (rows.some(({ lost, disordered, renamed }) => lost > 0 || disordered > 0 || renamed > 0)) {
        throw new Error(`Events were lost, reordered or renamed: ${JSON.stringify(rows)}`)
      }
      return {
        label,
        goal: `lost 0, out of order 0; ${faults} in ${seconds.toFixed(0)} s`,
        head: ['', 'received', 'lost', 'duplicates', 'out of order', 'rejected'],
        rows: rows.map(({ name, received, lost, duplicates, disordered, rejected }) => [
          name,
          ...[received, lost, duplicates, disordered, rejected].map(String),
        ]),
        data: { total, faults, seconds, rows },
      }
    },
    stop() {
      server.close()
      server.closeAllConnections()
    },
  }
  return receiver
}
