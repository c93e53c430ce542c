/**
 * Third-party clients, with an Edgewise server over HTTP on Node and over stdio.
 */
import { afterAll, beforeAll, describe } from 'vitest'

import { serve, type HttpServer } from '../../runtimes/node/index.ts'
import { connectEdgewise } from './clients/edgewise.ts'
import { connectV1 } from './clients/v1.ts'
import { connectV2 } from './clients/v2.ts'
import { newest } from './contract.ts'
import { exchange } from './exchange.ts'
import { program } from './programs.ts'
import { createPeerServer } from './servers/edgewise.ts'

const server = 'edgewise'
let http: HttpServer

beforeAll(async () => {
  http = await serve(createPeerServer(), { port: 0 })
})
afterAll(() => http.close())

describe('official v1 client with an Edgewise server over HTTP', () => {
  exchange({ revision: newest.legacy, server, connect: () => connectV1(http) })
})

describe('official v1 client with an Edgewise server over stdio', () => {
  const connect = () => connectV1(program('edgewise-stdio'))
  exchange({ revision: newest.legacy, server, connect })
})

for (const era of ['legacy', 'modern'] as const) {
  describe(`official v2 client (${era}) with an Edgewise server over HTTP`, () => {
    exchange({ revision: newest[era], server, connect: () => connectV2(http, era) })
  })

  describe(`official v2 client (${era}) with an Edgewise server over stdio`, () => {
    const connect = () => connectV2(program('edgewise-stdio'), era)
    exchange({ revision: newest[era], server, connect })
  })

  describe(`Edgewise client (${era}) with an Edgewise server over HTTP`, () => {
    exchange({ revision: newest[era], server, connect: () => connectEdgewise(http, era) })
  })

  describe(`Edgewise client (${era}) with an Edgewise server over stdio`, () => {
    const connect = () => connectEdgewise(program('edgewise-stdio'), era)
    exchange({ revision: newest[era], server, connect })
  })
}

describe('official v2 client (auto) with an Edgewise server over HTTP', () => {
  exchange({ revision: newest.modern, server, connect: () => connectV2(http, 'auto') })
})

describe('official v2 client (auto) with an Edgewise server over stdio', () => {
  const connect = () => connectV2(program('edgewise-stdio'), 'auto')
  exchange({ revision: newest.modern, server, connect })
})
