/**
 * The official clients with an Edgewise server under `wrangler dev`, as its users run it.
 */
import { join } from 'node:path'
import { afterAll, beforeAll, describe } from 'vitest'
import { unstable_startWorker as startWorker } from 'wrangler'

import { root } from '../root.ts'
import { connectV1 } from './clients/v1.ts'
import { connectV2 } from './clients/v2.ts'
import { newest } from './contract.ts'
import { exchange } from './exchange.ts'

const server = 'edgewise'
let worker: Awaited<ReturnType<typeof startWorker>>
let url: string

beforeAll(async () => {
  // Nothing here needs a network.
  process.env.WRANGLER_SEND_METRICS = 'false'
  process.env.CLOUDFLARE_CF_FETCH_ENABLED = 'false'
  worker = await startWorker({
    config: join(root, 'test/peers/servers/wrangler.toml'),
    dev: { server: { port: 0 }, inspector: false, persist: false, logLevel: 'error' },
  })
  url = new URL('/mcp', await worker.url).href
})
afterAll(() => worker.dispose())

describe('official v1 client with an Edgewise server under wrangler dev', () => {
  exchange({ revision: newest.legacy, server, connect: () => connectV1({ url }) })
})

for (const era of ['legacy', 'modern'] as const) {
  describe(`official v2 client (${era}) with an Edgewise server under wrangler dev`, () => {
    exchange({ revision: newest[era], server, connect: () => connectV2({ url }, era) })
  })
}
