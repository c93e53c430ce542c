import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lastMessage, openSession } from '../../transport/streamable-http/post.ts'
import { EventReader, listen, resume } from './events.ts'
import { bundleWorker, startWorker, type Workerd } from './workerd.ts'

const call = (id: number, name: string, params = {}): Record<string, unknown> => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: {}, _meta: { progressToken: id }, ...params },
})
const confirm = (id: number): Record<string, unknown> =>
  call(id, 'confirm', { arguments: { what: 'tea' } })
const accept = { action: 'accept', content: { yes: true } }

let workerd: Workerd

beforeAll(async () => {
  workerd = await startWorker(await bundleWorker('worker.ts'))
})
afterAll(() => workerd.stop())

async function ran(): Promise<string[]> {
  return (await (await workerd.get('/ran')).json()) as string[]
}

describe('A session whose object was replaced', () => {
  it('runs a waiting handler again with the answer, each step once', async () => {
    const { id, send } = await openSession(workerd.handle, '2025-11-25', { elicitation: {} })
    const reader = new EventReader(await send(confirm(1)))
    const asked = await reader.until('elicitation/create')
    await workerd.restart()

    const answer = { jsonrpc: '2.0', id: asked.message?.id, result: accept }
    const decline = { action: 'decline' }
    await send({ ...answer, id: String(answer.id), result: decline })
    expect((await send(answer)).status).toBe(202)
    expect((await send(answer)).status, 'Delivered twice').toBe(202)
    const resumed = new EventReader(await listen(workerd.handle, id, asked.id))
    const { message } = await resumed.until('bought')
    expect(message).toMatchObject({ id: 1, result: { content: [{ text: 'bought: true' }] } })
    expect(await resumed.next(), 'The stream ends after the response').toBeUndefined()
    expect(await ran()).toEqual(['confirm'])

    const next = new EventReader(await send(confirm(2)))
    const again = await next.until('elicitation/create')
    expect(again.message?.id, 'Ids of requests are used once').not.toBe(asked.message?.id)
    await next.cancel()
  })

  it('lets a client that resumed wait for the answer, and gives it the next question', async () => {
    const { id, send } = await openSession(workerd.handle, '2025-11-25', { elicitation: {} })
    const reader = new EventReader(await send(call(1, 'confirmTwice')))
    const first = await reader.until('elicitation/create')
    await workerd.restart()
    const resumed = new EventReader(await listen(workerd.handle, id, first.id))
    await send({ jsonrpc: '2.0', id: first.message?.id, result: accept })
    const second = await resumed.until('elicitation/create')
    await workerd.restart()
    await send({ jsonrpc: '2.0', id: second.message?.id, result: accept })
    const last = new EventReader(await listen(workerd.handle, id, second.id))
    expect((await last.until('result')).message).toHaveProperty(
      'result.content.0.text',
      'true, true',
    )
  })

  it('passes the refusal of a client on to the handler', async () => {
    const { id, send } = await openSession(workerd.handle, '2025-11-25', { elicitation: {} })
    const asked = await new EventReader(await send(confirm(1))).until('elicitation/create')
    await workerd.restart()
    const error = { code: -32603, message: 'No screen' }
    await send({ jsonrpc: '2.0', id: asked.message?.id, error })
    const { message } = await new EventReader(await listen(workerd.handle, id, asked.id)).until(
      '"id":1',
    )
    expect(message).toHaveProperty('error.message', 'No screen')
  })

  it('gives up a call that was in the middle of its work', async () => {
    const { id, send } = await openSession(workerd.handle)
    const progress = await new EventReader(await send(call(1, 'work'))).until('progress')
    await workerd.restart()
    const resumed = new EventReader(await listen(workerd.handle, id, progress.id))
    const { message } = await resumed.until('"id":1')
    expect(message).toHaveProperty('error.code', -32603)
    expect(await resumed.next()).toBeUndefined()
  })

  it('ends a waiting call that the client cancels', async () => {
    const { id, send } = await openSession(workerd.handle, '2025-11-25', { elicitation: {} })
    const asked = await new EventReader(await send(confirm(1))).until('elicitation/create')
    await workerd.restart()
    const same = await send(confirm(1))
    expect(same.status, 'Its id is in use').toBe(400)
    const method = 'notifications/cancelled'
    await send({ jsonrpc: '2.0', method, params: { requestId: 1 } })
    await send({ jsonrpc: '2.0', id: asked.message?.id, result: accept })
    const resumed = new EventReader(await listen(workerd.handle, id, asked.id))
    expect(await resumed.next()).toBeUndefined()
    expect(await ran()).toEqual([])
  })
})

describe('A client that lost its connection', () => {
  it('gets what it missed, in order and once, also over a restart [L-HTTP-041]', async () => {
    const { id, send } = await openSession(workerd.handle)
    const reader = new EventReader(await send(call(1, 'count', { arguments: { to: 50 } })))
    const seen = [await reader.until('"progress":7')]
    await reader.cancel()
    for (let at = 0; at < 2; at++) {
      const resumed = await resume(workerd.handle, id, seen.at(-1)!.id)
      const from = seen.length
      for (let event = await resumed.next(); event; event = await resumed.next()) seen.push(event)
      const numbers = seen.slice(from).map(({ message }) => message?.params?.progress)
      expect(numbers).toEqual([...Array.from({ length: 43 }, (_, n) => n + 8), undefined])
      expect(new Set(seen.map((event) => event.id)).size).toBe(seen.length)
      seen.splice(from)
      await workerd.restart()
    }
  })

  it('can resume its call again and again, though nothing came meanwhile [I013]', async () => {
    const { id, send } = await openSession(workerd.handle, '2025-11-25', { elicitation: {} })
    const asked = await new EventReader(await send(confirm(1))).until('elicitation/create')
    for (let breaks = 0; breaks < 2; breaks++) {
      const resumed = new EventReader(await listen(workerd.handle, id, asked.id))
      expect(await resumed.next()).toMatchObject({ id: asked.id, data: '' })
      await resumed.cancel()
      await workerd.restart()
    }
    await send({ jsonrpc: '2.0', id: asked.message?.id, result: accept })
    const last = await resume(workerd.handle, id, asked.id)
    expect((await last.until('bought')).message).toMatchObject({ id: 1 })
  })

  it('gets a result of 4 MB', async () => {
    const { id, send } = await openSession(workerd.handle)
    const reader = new EventReader(await send(call(1, 'large', { arguments: { bytes: 4e6 } })))
    const first = await reader.next()
    await reader.cancel()
    await workerd.restart()
    const resumed = new EventReader(await listen(workerd.handle, id, first!.id))
    const { message } = await resumed.until('"id":1')
    const [content] = message?.result?.content as [{ text: string }]
    expect(content.text.length).toBe(3e6)
    expect(content.text === 'é𝄞'.repeat(1e6), 'No character was cut').toBe(true)
  })

  it('is answered with an error for an unknown event id [L-HTTP-047]', async () => {
    const { id, send } = await openSession(workerd.handle)
    const event = await new EventReader(await send(call(1, 'chat'))).next()
    const other = await openSession(workerd.handle)
    for (const [session, eventId] of [
      [other.id, event!.id],
      [id, 'x_1'],
      [id, '1'],
      [id, ''],
    ] as const) {
      expect((await listen(workerd.handle, session, eventId)).status).toBe(400)
    }
    expect((await lastMessage(await other.send(call(1, 'chat')))).result).toBeDefined()
  })
})
