import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { revisions } from '../../src/index.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import {
  createServer,
  observer,
  text,
  type ObservedEvent,
  type ServerObserver,
} from '../../src/presets/server.ts'
import { sessionHandler } from '../handler.ts'
import { openSession, post, postModern } from '../transport/streamable-http/post.ts'

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

function makeServer(observe: (event: ObservedEvent) => void) {
  const server = createServer({ name: 's', version: '1' }, { observe: observer(observe) })
  const input = z.object({ password: z.string().optional() })
  server.tool('hi', { input }, () => text('hi'))
  server.tool('bad', {}, () => {
    throw new Error('secret')
  })
  return sessionHandler(server)
}

describe('the observed events of a server', () => {
  it('are not passed to a bare function, which is rejected with the expected form', () => {
    const observe: object = (): void => {}
    expect(() =>
      createServer({ name: 's', version: '1' }, { observe: observe as ServerObserver }),
    ).toThrow(new TypeError('"observe" must be observer(fn)'))
  })

  it('include requests, with their subject, outcome and trace', async () => {
    const events: ObservedEvent[] = []
    const handle = makeServer((event) => events.push(event))
    await postModern(handle, 'tools/call', {
      name: 'hi',
      arguments: { password: 'hunter2' },
      _meta: { traceparent: TRACE, tracestate: 5 },
    })
    await postModern(handle, 'tools/call', { name: 'bad' })
    await postModern(handle, 'tools/call', { name: 'none' })
    expect(events).toMatchObject([
      {
        type: 'request',
        method: 'tools/call',
        name: 'hi',
        revision: '2026-07-28',
        outcome: 'complete',
        trace: { traceparent: TRACE, tracestate: undefined },
      },
      { name: 'bad', outcome: 'failed' },
      { name: 'none', outcome: 'error', code: -32602 },
    ])
    expect(JSON.stringify(events)).not.toMatch(/hunter2|secret/)
  })

  it('include rejections and sessions', async () => {
    const events: ObservedEvent[] = []
    const handle = makeServer((event) => events.push(event))
    const { id } = await openSession(handle)
    await handle(
      new Request('http://localhost/mcp', { method: 'DELETE', headers: { 'mcp-session-id': id } }),
    )
    await post(handle, { jsonrpc: '2.0', id: 1, method: 'ping' }, { 'mcp-session-id': id })
    await post(handle, {}, { origin: 'https://evil.example' })
    expect(events).toMatchObject([
      { type: 'session', change: 'opened', revision: '2025-11-25' },
      { type: 'session', change: 'ended' },
      { type: 'rejection', status: 404, origin: null },
      { type: 'rejection', status: 403, origin: 'https://evil.example' },
    ])
    expect(JSON.stringify(events)).not.toContain(id)
  })

  it('include the trace that a client sends with each of its requests, in every revision', async () => {
    for (const { version } of revisions) {
      const traces: unknown[] = []
      const server = createServer(
        { name: 's', version: '1' },
        {
          observe: observer(
            (event) => event.type === 'request' && traces.push(event.trace.traceparent),
          ),
        },
      )
      server.tool('hi', {}, () => text('hi'))
      const client = await connectInMemory(server, {
        revision: version,
        trace: () => ({ traceparent: TRACE }),
      })
      traces.length = 0
      await client.callTool('hi')
      await client.listAllTools()
      expect(traces).toEqual([TRACE, TRACE])
      await client.close()
    }
  })

  it('affect nothing if the observer throws', async () => {
    const handle = makeServer(() => {
      throw new Error('observer')
    })
    expect((await postModern(handle, 'tools/call', { name: 'hi' })).status).toBe(200)
  })
})
