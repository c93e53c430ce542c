import { describe, expect, test } from 'vitest'
import { nodeCommand } from '../../node-program.ts'
import { serve, stdioClient } from '../../../runtimes/node/index.ts'
import { eventSubscriptions } from '../../../src/events/client/index.ts'
import type { EventSubscriptions } from '../../../src/events/client/options.ts'
import { memoryRecords } from '../../../src/events/client/subscription-store.ts'
import { connect, type Client } from '../../../src/presets/client.ts'
import { PATIENCE } from '../../patience.ts'
import { countingServer } from './counting-server.ts'

/** Connects to the server, over HTTP or to a program. */
const ways: Record<string, () => Promise<{ client: Client; close: () => Promise<void> }>> = {
  async HTTP() {
    const http = await serve(countingServer(), { port: 0 })
    const client = await connect(http.url)
    return {
      client,
      async close() {
        await client.close()
        await http.close()
      },
    }
  },
  async stdio() {
    const [command, ...args] = nodeCommand('test/runtimes/events/counting-program.ts')
    const client = await connect(stdioClient({ command, args }))
    return { client, close: () => client.close() }
  },
}

describe.each(Object.keys(ways))('Following over %s', (way) => {
  test.each(['poll', 'push'] as const)(
    'by %s receives each event once, reports a gap, and ends when it is stopped [E-EVT-070] [E-EVT-324]',
    async (mode) => {
      const { client, close } = await ways[way]!()
      const store = memoryRecords()
      const gaps: string[] = []
      const received: unknown[] = []
      const count = (from: number, n = 1): Promise<unknown> =>
        client.callTool('count', { from, count: n })
      const follow = (): { subscriptions: EventSubscriptions; ended: Promise<void> } => {
        const onGap = ({ name }: { name: string }): number => gaps.push(name)
        const subscriptions = eventSubscriptions(client, { store, minPollMs: 50, onGap })
        const read = async (): Promise<void> => {
          for await (const { data } of subscriptions.follow('counted', {}, { mode })) {
            received.push(data.n)
          }
        }
        return { subscriptions, ended: read() }
      }
      const first = follow()
      const position = async (): Promise<unknown> => (await store.list())[0]?.cursor
      await expect.poll(position, PATIENCE).toEqual(expect.any(String))
      for (const n of [1, 2, 3]) await count(n)
      await expect.poll(() => received, PATIENCE).toEqual([1, 2, 3])
      const last = await position()
      await expect.poll(position, PATIENCE).toBe(last)
      first.subscriptions.close()
      await first.ended
      expect(gaps).toEqual([])

      // More events than the server keeps
      await count(4, 10)
      const second = follow()
      await expect.poll(() => received.at(-1), PATIENCE).toBe(13)
      expect(received).toEqual([1, 2, 3, 11, 12, 13])
      expect(gaps).toEqual(['counted'])
      await second.subscriptions.stopAll()
      await second.ended
      expect(await store.list()).toEqual([])
      await close()
    },
  )
})
