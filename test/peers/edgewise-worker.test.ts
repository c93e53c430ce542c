/**
 * Third-party clients, with an Edgewise server over HTTP on workerd.
 */
import { afterAll, beforeAll, describe } from 'vitest'

import { bundleWorker, startWorker, type Workerd } from '../runtimes/cloudflare/workerd.ts'
import { connectEdgewise } from './clients/edgewise.ts'
import { connectV1 } from './clients/v1.ts'
import { connectV2 } from './clients/v2.ts'
import { newest } from './contract.ts'
import { exchange } from './exchange.ts'

const server = 'edgewise'
let workerd: Workerd
const target = () => ({ url: new URL('/mcp', workerd.url).href })

beforeAll(async () => {
  workerd = await startWorker(await bundleWorker('../../peers/servers/edgewise-worker.ts'))
})
afterAll(() => workerd.stop())

describe('official v1 client with an Edgewise server on workerd', () => {
  exchange({ revision: newest.legacy, server, connect: () => connectV1(target()) })
})

for (const era of ['legacy', 'modern'] as const) {
  describe(`official v2 client (${era}) with an Edgewise server on workerd`, () => {
    exchange({ revision: newest[era], server, connect: () => connectV2(target(), era) })
  })

  describe(`Edgewise client (${era}) with an Edgewise server on workerd`, () => {
    exchange({ revision: newest[era], server, connect: () => connectEdgewise(target(), era) })
  })
}
