/** A receiver of webhooks that runs apart from the client. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { eventSubscriptions } from '../../../src/events/client/index.ts'
import {
  memoryRecords,
  type SubscriptionRecords,
} from '../../../src/events/client/subscription-store.ts'
import { events, webhooks } from '../../../src/events/index.ts'
import type { WebhookRequest } from '../../../src/events/webhooks/options.ts'
import { createServer } from '../../../src/presets/server.ts'
import { connectInMemory } from '../../../src/testing/index.ts'
import { nodeCommand } from '../../node-program.ts'
import { PATIENCE } from '../../patience.ts'
import { root } from '../../root.ts'

/** A store in memory that also writes its records to a file. */
async function fileRecords(file: string): Promise<SubscriptionRecords> {
  const records = memoryRecords()
  const write = async (): Promise<void> => {
    writeFileSync(file, JSON.stringify(await records.list()))
  }
  await write()
  return {
    ...records,
    async save(record) {
      await records.save(record)
      await write()
    },
    async remove(key) {
      await records.remove(key)
      await write()
    },
  }
}

test('a receiver in a process of its own accepts the events of a client that stores its subscriptions [E-EVT-249]', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'events-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'subscriptions.json')
  const store = await fileRecords(file)
  const [command, ...args] = nodeCommand('test/runtimes/events/receiver-program.ts', file)
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill())
  const lines: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
  await expect.poll(() => lines[0], PATIENCE).toMatch(/^port \d+$/)

  // What a proxy in front of the receiver does
  const statuses: number[] = []
  const proxy = async (to: string, { signal, ...request }: WebhookRequest): Promise<Response> => {
    const { pathname } = new URL(to)
    const target = `http://127.0.0.1:${lines[0]?.slice(5)}${pathname}`
    const response = await fetch(target, { signal, ...request })
    statuses.push(response.status)
    return response
  }
  const shop = events({ webhooks: webhooks({ fetch: proxy }) })
  const shipped = shop.type('order.shipped', {})
  const server = createServer({ name: 'shop', version: '1.0.0' })
  server.extend(shop)
  onTestFinished(() => shop.close())
  const client = await connectInMemory(server, { principal: 'alice' })
  onTestFinished(() => client.close())
  const receiver = { url: 'https://app.example/hooks' }
  const subscriptions = eventSubscriptions(client, { store, receiver })
  expect(await subscriptions.subscribe('order.shipped')).toMatchObject({ mode: 'webhook' })
  await shipped.emit({ n: 1 }, { eventId: 'in_1' })
  await shipped.emit({ n: 2 }, { eventId: 'in_2' })
  await expect.poll(() => lines.slice(1), PATIENCE).toEqual(['event in_1', 'event in_2'])
  // The challenge, and both events
  await expect.poll(() => statuses, PATIENCE).toEqual([200, 204, 204])
})
