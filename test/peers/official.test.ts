/**
 * The official SDKs with each other: what the fixtures themselves can do, so that a failure
 * elsewhere is ours.
 */
import { afterAll, beforeAll, describe } from 'vitest'

import { connectV1 } from './clients/v1.ts'
import { connectV2 } from './clients/v2.ts'
import { newest } from './contract.ts'
import { exchange } from './exchange.ts'
import { program } from './programs.ts'
import type { Listening } from './servers/http.ts'
import { listenV1, listenV2 } from './servers/http.ts'

let v1: Listening
let v2: Listening

beforeAll(async () => {
  ;[v1, v2] = await Promise.all([listenV1(), listenV2()])
})
afterAll(() => Promise.all([v1[Symbol.asyncDispose](), v2[Symbol.asyncDispose]()]))

describe('official v1 client with official v1 server over HTTP', () => {
  exchange({ revision: newest.legacy, server: 'official-v1', connect: () => connectV1(v1) })
})

for (const era of ['legacy', 'modern'] as const) {
  describe(`official v2 client (${era}) with official v2 server over HTTP`, () => {
    exchange({ revision: newest[era], server: 'official-v2', connect: () => connectV2(v2, era) })
  })

  describe(`official v2 client (${era}) with official v2 server over stdio`, () => {
    const connect = () => connectV2(program('v2-stdio'), era)
    exchange({ revision: newest[era], server: 'official-v2', connect })
  })
}

describe('official v1 client with official v1 server over stdio', () => {
  const connect = () => connectV1(program('v1-stdio'))
  exchange({ revision: newest.legacy, server: 'official-v1', connect })
})
