// The server that people see first.
import { createHandler, statefulSessions } from 'edgewise/server'
import { connect } from 'edgewise/client'
import { expect, it } from 'vitest'
import { server } from '../../examples/playground/server.ts'
import { checkEndpoint } from '../../src/check/check-server.ts'

const url = 'https://demo.example/mcp'

it('The demo server passes the check without a finding', async () => {
  const handle = createHandler(server, { sessions: statefulSessions(), allowedOrigins: '*' })
  const fetch = async (at: string | URL | Request, init?: RequestInit): Promise<Response> =>
    handle(new Request(at, init))
  const options = { url, headers: new Headers(), fetch, timeoutMs: 10_000 }
  const found: unknown[] = []
  for await (const each of checkEndpoint(options, (revision) =>
    connect(url, { fetch, ...(revision && { revision }) }),
  )) {
    found.push(each)
  }
  expect(found).toEqual([])
})
