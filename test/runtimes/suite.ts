// The portable suite: the same tests on Node, workerd, Deno, Bun and Chromium.
import { revisions } from 'edgewise'
import { connect } from 'edgewise/client'
import { connect as connectTiny } from 'edgewise/client/tiny'
import { createHandler, statefulSessions } from 'edgewise/server'
import { connectInMemory } from 'edgewise/testing'
import { badInputSuite } from './bad-input-suite.ts'
import { tinySuite, type OpenTiny } from './call-suite.ts'
import { cardSuite } from './card-suite.ts'
import type { Suite } from './harness.ts'
import { tinyServerSuite } from './tiny-server-suite.ts'
import { revisionSuite, type Open } from './revision-suite.ts'
import { server } from './server.ts'

const handle = createHandler(server, { sessions: statefulSessions() })

const inMemory: Open = (options) => connectInMemory(server, options)
const url = 'https://portable.test/mcp'
const fetch = (to: string, init: RequestInit): Promise<Response> => handle(new Request(to, init))
const overHttp: Open = (options) => connect(url, { ...options, fetch })
const tinyOverHttp: OpenTiny = (options) => connectTiny(url, { ...options, fetch })

export const suite: Suite = Object.assign(
  { ...badInputSuite, ...cardSuite },
  ...revisions.flatMap(({ version }) => [
    revisionSuite('in memory', version, inMemory),
    revisionSuite('over HTTP', version, overHttp),
    tinySuite('over HTTP, tiny', version, tinyOverHttp),
    tinyServerSuite(version),
  ]),
)
