// A server whose tool emits events, of which it keeps three.
import * as z from 'zod'
import { events, streams } from '../../../src/events/index.ts'
import { createServer, type Server } from '../../../src/presets/server.ts'

export function countingServer(): Server {
  const server = createServer({ name: 'counter', version: '1' })
  const counter = events({ streams: streams() })
  const counted = counter.type('counted', {
    payload: z.object({ n: z.number() }),
    history: { maxEvents: 3 },
    pollMs: 200,
  })
  server.extend(counter)
  const input = z.object({ from: z.number(), count: z.number() })
  server.tool('count', { input }, async ({ from, count }) => {
    for (let n = from; n < from + count; n++) await counted.emit({ n }, { eventId: `n_${n}` })
    return 'Counted'
  })
  return server
}
