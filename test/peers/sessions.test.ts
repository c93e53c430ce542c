/**
 * What sessions have beyond calls and answers: sampling, roots, subscriptions, announcements,
 * cancellation and resumption, between Edgewise and the official SDKs, both ways. The official ones
 * meet each other as well, so that a failure elsewhere is ours.
 */
import { afterAll, beforeAll, describe } from 'vitest'

import { serve } from '../../runtimes/node/index.ts'
import type { Target } from './contract.ts'
import { program } from './programs.ts'
import type { Listening } from './servers/http.ts'
import { connectEdgewise, connectSseV1, connectV1, connectV2 } from './sessions/clients.ts'
import { RETURNED, STAYED } from './sessions/contract.ts'
import { exchange } from './sessions/exchange.ts'
import { breakableLine, type Line } from './sessions/line.ts'
import { listenSseEdgewise, listenSseV1, listenV1, listenV2 } from './sessions/http.ts'
import { createEdgewise } from './sessions/servers.ts'

const clients = [
  ['Edgewise client', connectEdgewise],
  ['official v1 client', connectV1],
  ['official v2 client', connectV2],
] as const

const servers: [string, () => Promise<Listening>, string][] = [
  ['an Edgewise server', () => serve(createEdgewise(), { port: 0 }), 'session-edgewise-stdio'],
  ['the official v1 server', listenV1, 'session-v1-stdio'],
  ['the official v2 server', listenV2, 'session-v2-stdio'],
]

for (const [who, connect] of clients) {
  for (const [whom, serve, name] of servers) {
    describe(`${who} with ${whom} over HTTP`, () => {
      let server: Listening
      let line: Line
      beforeAll(async () => {
        server = await serve()
        line = await breakableLine(server.url)
      })
      afterAll(async () => {
        await line?.[Symbol.asyncDispose]()
        await server?.[Symbol.asyncDispose]()
      })
      exchange(
        () => connect(line),
        RETURNED,
        () => line.drop(),
      )
    })

    describe(`${who} with ${whom} over stdio`, () => {
      const target = (): Target => program(name)
      exchange(() => connect(target()), STAYED)
    })
  }
}

for (const [who, connect] of [
  ['Edgewise client', connectEdgewise],
  ['official v1 client', connectSseV1],
] as const) {
  for (const [whom, serve] of [
    ['an Edgewise server', listenSseEdgewise],
    ['the official v1 server', listenSseV1],
  ] as const) {
    describe(`${who} with ${whom} over HTTP+SSE`, () => {
      let server: Listening
      beforeAll(async () => {
        server = await serve()
      })
      afterAll(() => server?.[Symbol.asyncDispose]())
      exchange(() => connect(server), STAYED)
    })
  }
}
