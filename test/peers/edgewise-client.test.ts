/**
 * The Edgewise client with third-party servers, over HTTP and over stdio. Where no era
 * is given the client detects which kind of server it meets.
 */
import { afterAll, beforeAll, describe } from 'vitest'

import { connectEdgewise } from './clients/edgewise.ts'
import { newest, type Era } from './contract.ts'
import { exchange } from './exchange.ts'
import { program } from './programs.ts'
import { listenV1, listenV2, type Listening } from './servers/http.ts'

let v1: Listening
let v2: Listening

beforeAll(async () => {
  ;[v1, v2] = await Promise.all([listenV1(), listenV2()])
})
afterAll(() => Promise.all([v1[Symbol.asyncDispose](), v2[Symbol.asyncDispose]()]))

const eras: readonly [era: Era | undefined, found: Era, label: string][] = [
  [undefined, 'modern', 'era not given'],
  ['modern', 'modern', 'modern'],
  ['legacy', 'legacy', 'legacy'],
]

for (const [era, found, label] of eras) {
  describe(`Edgewise client (${label}) with the official v2 server over HTTP`, () => {
    const connect = () => connectEdgewise(v2, era)
    exchange({ revision: newest[found], server: 'official-v2', connect })
  })

  describe(`Edgewise client (${label}) with the official v2 server over stdio`, () => {
    const connect = () => connectEdgewise(program('v2-stdio'), era)
    exchange({ revision: newest[found], server: 'official-v2', connect })
  })
}

for (const [era, label] of [
  [undefined, 'era not given'],
  ['legacy', 'legacy'],
] as const) {
  describe(`Edgewise client (${label}) with the official v1 server over HTTP`, () => {
    const connect = () => connectEdgewise(v1, era)
    exchange({ revision: newest.legacy, server: 'official-v1', connect })
  })

  describe(`Edgewise client (${label}) with the official v1 server over stdio`, () => {
    const connect = () => connectEdgewise(program('v1-stdio'), era)
    exchange({ revision: newest.legacy, server: 'official-v1', connect })
  })
}
