// The portable suite: the same tests on Node, workerd, Deno, Bun and Chromium.
import { revisions } from 'edgewise'
import { connect } from 'edgewise/client'
import { createHandler, keptSessions } from 'edgewise/server'
import { connectInMemory } from 'edgewise/testing'
import { badInputSuite } from './bad-input-suite.ts'
import type { Suite } from './harness.ts'
import { revisionSuite, type Open } from './revision-suite.ts'
import { server } from './server.ts'

const handle = createHandler(server, { sessions: keptSessions() })

const inMemory: Open = (options) => connectInMemory(server, options)
const overHttp: Open = (options) =>
  connect('https://portable.test/mcp', {
    ...options,
    fetch: (url, init) => handle(new Request(url, init)),
  })

export const suite: Suite = Object.assign(
  { ...badInputSuite },
  ...revisions.flatMap(({ version }) => [
    revisionSuite('in memory', version, inMemory),
    revisionSuite('over HTTP', version, overHttp),
  ]),
)
