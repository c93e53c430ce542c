import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  initializeRequest,
  lastMessage,
  openSession,
  post,
} from '../../transport/streamable-http/post.ts'
import { EventReader, listen } from './events.ts'
import { bundleWorker, startWorker, type Workerd } from './workerd.ts'

/** More than a row or a value of an object's storage takes, which is 2 MB. */
const LARGE = 'x'.repeat(3_000_000)

const call = (id: number, name: string, args: object = {}): Record<string, unknown> => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args },
})
const ping = { jsonrpc: '2.0', id: 99, method: 'ping' }

let workerd: Workerd

beforeAll(async () => {
  workerd = await startWorker(await bundleWorker('worker.ts'))
})
afterAll(() => workerd.stop())

describe('A value larger than a row of an object', () => {
  it('is refused where a client says it of itself', async () => {
    const clientInfo = { name: 'test', version: '1', title: LARGE }
    for (const user of [undefined, 'ann']) {
      const message = initializeRequest('2025-11-25', { clientInfo })
      const response = await post(workerd.handle, message, user ? { 'x-user': user } : {})
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({ id: 'init', error: { code: -32602 } })
    }
  })

  it('is refused where a session would watch it, and less is not', async () => {
    const { send } = await openSession(workerd.handle, '2025-11-25')
    const method = 'resources/subscribe'
    const subscribe = async (id: number, uri: string): Promise<unknown> =>
      lastMessage(await send({ jsonrpc: '2.0', id, method, params: { uri } }))
    const long = (n: number): string => `user://${n}${'y'.repeat(8000)}/profile`
    expect(await subscribe(1, `user://${LARGE}/profile`), 'No such resource').toHaveProperty(
      'error.code',
      -32002,
    )
    for (let n = 0; n < 62; n++) expect(await subscribe(n, long(n))).toHaveProperty('result')
    expect(await subscribe(99, long(99))).toHaveProperty('error.code', -32602)
    await workerd.restart()
    const { result } = await lastMessage(await send({ jsonrpc: '2.0', id: 5, method: 'ping' }))
    expect(result, 'The session is kept').toBeDefined()
  })

  it('reaches a handler as an answer, and as a request', async () => {
    const { send } = await openSession(workerd.handle, '2025-11-25', { elicitation: {} })
    const reader = new EventReader(await send(call(1, 'echoAnswer', { text: LARGE })))
    const asked = await reader.until('elicitation/create')
    const content = { text: LARGE }
    const result = { action: 'accept', content }
    expect((await send({ jsonrpc: '2.0', id: asked.message?.id, result })).status).toBe(202)
    expect((await reader.until('"id":1')).message).toHaveProperty(
      'result.content.0.text',
      `${LARGE.length} asked, ${LARGE.length} answered`,
    )
  })

  it('reports a lost call to the client after a restart', async () => {
    const { id, send } = await openSession(workerd.handle, '2025-11-25', { elicitation: {} })
    const reader = new EventReader(await send(call(1, 'echoAnswer', { text: LARGE })))
    const asked = await reader.until('elicitation/create')
    await workerd.restart()
    const result = { action: 'accept', content: { text: 'late' } }
    expect((await send({ jsonrpc: '2.0', id: asked.message?.id, result })).status).toBe(202)
    const resumed = new EventReader(await listen(workerd.handle, id, asked.id))
    expect((await resumed.until('"id":1')).message).toMatchObject({
      id: 1,
      error: { code: -32603, message: expect.stringContaining('restarted') as string },
    })
    expect((await send(ping)).status).toBe(200)
  })

  it('reaches a handler as the answer that comes after a restart', async () => {
    const { id, send } = await openSession(workerd.handle, '2025-11-25', { elicitation: {} })
    const reader = new EventReader(await send(call(1, 'echoAnswer', { text: 'short' })))
    const asked = await reader.until('elicitation/create')
    await workerd.restart()
    const result = { action: 'accept', content: { text: LARGE } }
    expect((await send({ jsonrpc: '2.0', id: asked.message?.id, result })).status).toBe(202)
    const resumed = new EventReader(await listen(workerd.handle, id, asked.id))
    expect((await resumed.until('"id":1')).message).toHaveProperty(
      'result.content.0.text',
      `5 asked, ${LARGE.length} answered`,
    )
  })

  it('can be the value of a step', async () => {
    const { send } = await openSession(workerd.handle, '2025-11-25', { elicitation: {} })
    const reader = new EventReader(await send(call(1, 'largeStep')))
    const asked = await reader.until('elicitation/create')
    const result = { action: 'accept', content: { text: 'fine' } }
    expect((await send({ jsonrpc: '2.0', id: asked.message?.id, result })).status).toBe(202)
    expect((await reader.until('"id":1')).message).toHaveProperty(
      'result.content.0.text',
      '3000000 characters',
    )
  })
})
