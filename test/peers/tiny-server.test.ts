/**
 * Third-party clients, with a tiny Edgewise server.
 */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe } from 'vitest'

import { toNodeListener } from '../../runtimes/node/index.ts'
import { createHandler as createTinyHandler } from '../../src/presets/server-tiny.ts'
import { connectEdgewise } from './clients/edgewise.ts'
import { connectV1 } from './clients/v1.ts'
import { connectV2 } from './clients/v2.ts'
import { newest, type Target } from './contract.ts'
import { exchange } from './exchange.ts'
import { createTinyPeerServer } from './servers/edgewise.ts'

const meeting = { server: 'edgewise', toolsOnly: true }
let http: Server
const target = (): Target => {
  const { port } = http.address() as AddressInfo
  return { url: `http://localhost:${port}/mcp` }
}

beforeAll(async () => {
  http = createServer(toNodeListener(createTinyHandler(createTinyPeerServer())))
  await new Promise<void>((resolve) => http.listen(0, resolve))
})
afterAll(() => http.close())

describe('official v1 client with a tiny Edgewise server', () => {
  exchange({ ...meeting, revision: newest.legacy, connect: () => connectV1(target()) })
})

for (const era of ['legacy', 'modern'] as const) {
  describe(`official v2 client (${era}) with a tiny Edgewise server`, () => {
    exchange({ ...meeting, revision: newest[era], connect: () => connectV2(target(), era) })
  })

  describe(`Edgewise client (${era}) with a tiny Edgewise server`, () => {
    exchange({ ...meeting, revision: newest[era], connect: () => connectEdgewise(target(), era) })
  })
}

describe('official v2 client (auto) with a tiny Edgewise server', () => {
  exchange({ ...meeting, revision: newest.modern, connect: () => connectV2(target(), 'auto') })
})
