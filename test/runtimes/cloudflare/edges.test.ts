// What the Worker checks at the edge, and that callers receive nothing about resources hidden from them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PATIENCE } from '../../patience.ts'
import { checkListening, checkSession } from '../../server/hidden-resources.ts'
import { openSession } from '../../transport/streamable-http/post.ts'
import { clientObserver, connect } from '../../../src/presets/client.ts'
import type { TracedSpan } from './trace-in-worker.ts'
import { bundleWorker, startWorker, type Workerd } from './workerd.ts'

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
    'records a call of %s and the spans of its tool as one trace, also in the object of a session',
    async (revision) => {
      const traceId = revision.replaceAll('-', '').padEnd(32, 'a')
      const traceparent = `00-${traceId}-b7ad6b7169203331-01`
      await using client = await connect(new URL('/mcp', workerd.url), {
        revision,
        observe: clientObserver(() => ({ trace: { traceparent } })),
      })
      await client.callTool('traced')
      const spans = (await (await workerd.get('/spans')).json()) as TracedSpan[]
      const call = spans.find(
        (span) => span.traceId === traceId && span.name === 'tools/call traced',
      )
      expect(call).toMatchObject({ parentId: 'b7ad6b7169203331' })
      const query = spans.find((span) => span.traceId === traceId && span.name === 'query')
      expect(query).toMatchObject({ parentId: call?.id })
    },
  )

  it('ends idle sessions when it serves some hosts only [S010]', async () => {
    const { id, send } = await openSession(workerd.handle)
    expect((await send({ jsonrpc: '2.0', id: 1, method: 'ping' })).status).toBe(200)
    const keeps = async (): Promise<unknown> => (await workerd.get(`/keeps?session=${id}`)).json()
    await expect.poll(keeps, PATIENCE).toBe(false)
  })
})
