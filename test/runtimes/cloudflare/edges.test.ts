// What the Worker checks at the edge, and that callers receive nothing about resources hidden from them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PATIENCE } from '../../patience.ts'
import { checkListening, checkSession } from '../../server/hidden-resources.ts'
import { openSession } from '../../transport/streamable-http/post.ts'
import { connect } from '../../../src/presets/client.ts'
import { createGateway } from '../../../src/presets/server.ts'
import { connectInMemory } from '../../../src/testing/index.ts'
import { record, useGlobalContext } from '../../opentelemetry/recording.ts'
import { tracedSpan, type TracedSpan } from './trace-in-worker.ts'
import { bundleWorker, startWorker, type Workerd } from './workerd.ts'

useGlobalContext()

let workerd: Workerd

beforeAll(async () => {
  workerd = await startWorker(await bundleWorker('edges-worker.ts'), {
    compatibilityFlags: ['nodejs_als'],
  })
})
afterAll(() => workerd.stop())

/** A handler that authenticates every request as that principal. */
const as = (principal: string): Workerd['handle'] => {
  const handle = (request: Request): Promise<Response> => {
    request.headers.set('x-user', principal)
    return workerd.handle(request)
  }
  return Object.assign(handle, { close: workerd.handle.close })
}
const updated = async (uri: string): Promise<void> => {
  await (await workerd.get(`/updated?uri=${encodeURIComponent(uri)}`)).text()
}

describe('A Worker', () => {
  it('notifies no listener of resources that are hidden from it, under any prefix [S006]', async () => {
    await checkListening({ as, updated })
  })

  it('notifies no session of resources that are hidden from it, live or resumed [S006]', async () => {
    await checkSession({ as, updated })
  })

  it('ends streams of callers whose authorization ends as "authenticate" says [S032]', async () => {
    const { id } = await openSession(as('ann'))
    const headers = {
      accept: 'text/event-stream',
      'mcp-session-id': id,
      'x-expires': `${Date.now() + 1500}`,
    }
    const response = await as('ann')(new Request('http://localhost/mcp', { headers }))
    expect(await response.text()).toContain(': The access token expired\n')
  })

  it.each(['2025-11-25', '2026-07-28'] as const)(
    'continues the trace of a call of %s through a gateway, also in the object of a session',
    async (revision) => {
      const recorded = record()
      const upstream = new URL('/mcp', workerd.url)
      const gateway = await createGateway(
        (options) => connect(upstream, { ...options, revision, observe: recorded.client }),
        { observe: recorded.server },
      )
      const client = await connectInMemory(gateway.server, { observe: recorded.client })
      await client.callTool('traced')
      const ours = recorded.spans().map(tracedSpan)
      const theirs = (await (await workerd.get('/spans')).json()) as TracedSpan[]
      const root = ours.find(({ name }) => name === 'tools/call traced')
      const spans = [...ours, ...theirs].filter(({ traceId }) => traceId === root?.traceId)
      const path: string[] = []
      for (let span = root; span;) {
        const { id, name } = span
        path.push(name)
        span = spans.find(({ parentId }) => parentId === id)
      }
      // The client, the gateway as a server and as a client, the Worker or the object of the session, the tool
      expect(path).toEqual([...Array<string>(4).fill('tools/call traced'), 'query'])
      expect(spans).toHaveLength(path.length)
      await client.close()
      await gateway.close()
    },
  )

  it('ends idle sessions when it serves some hosts only [S010]', async () => {
    const { id, send } = await openSession(workerd.handle)
    expect((await send({ jsonrpc: '2.0', id: 1, method: 'ping' })).status).toBe(200)
    const keeps = async (): Promise<unknown> => (await workerd.get(`/keeps?session=${id}`)).json()
    await expect.poll(keeps, PATIENCE).toBe(false)
  })
})
