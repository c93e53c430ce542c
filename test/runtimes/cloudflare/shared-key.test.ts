// Two clients of one `sessionKey`, each of a principal of its own: they share an object, and nothing
// that is of their sessions.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { initializeRequest, lastMessage, post } from '../../transport/streamable-http/post.ts'
import { EventReader } from './events.ts'
import { bundleWorker, startWorker, type Workerd } from './workerd.ts'

const LISTS = 'notifications/tools/list_changed'
const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
const initialize = initializeRequest('2025-11-25', { capabilities: { elicitation: {} } })
const call = (id: number, name: string, args: object = {}): object => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args, _meta: { progressToken: id } },
})

let workerd: Workerd

beforeAll(async () => {
  workerd = await startWorker(await bundleWorker('guarded.ts'))
})
afterAll(() => workerd.stop())

/** A client of the tenant that both share. */
async function open(authorization: string) {
  const who = { authorization, 'x-tenant': 'acme' }
  const response = await post(workerd.handle, initialize, who)
  const id = response.headers.get('mcp-session-id')!
  const send = (message: unknown, session = id): Promise<Response> =>
    post(workerd.handle, message, { ...who, 'mcp-session-id': session })
  const ask = (method: string, session = id, after?: string): Promise<Response> => {
    const headers = { ...who, accept: 'text/event-stream', 'mcp-session-id': session }
    const last = after === undefined ? {} : { 'last-event-id': after }
    const request = new Request('http://localhost/mcp', {
      method,
      headers: { ...headers, ...last },
    })
    return workerd.handle(request)
  }
  await send({ jsonrpc: '2.0', method: 'notifications/initialized' })
  return { id, send, ask }
}

describe('Two principals of one key', () => {
  it('cannot use, listen to, resume or end the session of the other [L-HTTP-061] [L-HTTP-062]', async () => {
    const [ann, cid] = [await open('ann'), await open('cid')]
    expect(ann.id.split('.')[0], 'One object').toBe(cid.id.split('.')[0])
    const stream = new EventReader(await ann.ask('GET'))
    const primed = (await stream.next())!.id
    const event = (await new EventReader(await ann.send(call(1, 'count'))).next())!.id
    for (const restart of [false, true]) {
      if (restart) {
        await stream.cancel()
        await workerd.restart()
      }
      const foreign = [
        await cid.send(ping, ann.id),
        await cid.ask('GET', ann.id),
        await cid.ask('GET', ann.id, event),
        await cid.ask('GET', ann.id, primed),
        await cid.ask('DELETE', ann.id),
      ]
      expect(foreign.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404])
      expect((await ann.send(ping)).status).toBe(200)
    }
  })

  it('cannot resume the events of the other by their ids in a session of their own', async () => {
    const [ann, cid] = [await open('ann'), await open('cid')]
    const stream = new EventReader(await ann.ask('GET'))
    const ids = [(await stream.next())!.id]
    await workerd.get('/notify')
    ids.push((await stream.next())!.id)
    const events = new EventReader(await ann.send(call(1, 'count')))
    for (let event = await events.next(); event; event = await events.next()) ids.push(event.id)
    expect(ids.length).toBeGreaterThan(5)
    for (const id of ids) expect((await cid.ask('GET', cid.id, id)).status).toBe(400)
    // Streams are named at random, so that an event id of one reveals nothing about another.
    const streams = new Set(ids.map((id) => id.split('_')[0]))
    expect([...streams].every((id) => /^[\da-f]{8}$/.test(id!))).toBe(true)
    await stream.cancel()
  })

  it('cannot answer a question of the other', async () => {
    const [ann, cid] = [await open('ann'), await open('cid')]
    const reader = new EventReader(await ann.send(call(1, 'confirm', { what: 'tea' })))
    const asked = await reader.until('elicitation/create')
    const answer = (yes: boolean): object => {
      const result = { action: 'accept', content: { yes } }
      return { jsonrpc: '2.0', id: asked.message?.id, result }
    }
    expect((await cid.send(answer(false), ann.id)).status).toBe(404)
    expect((await cid.send(answer(false))).status, 'Answers nothing').toBe(202)
    expect((await ann.send(answer(true))).status).toBe(202)
    expect((await reader.until('"id":1')).message).toHaveProperty(
      'result.content.0.text',
      'bought: true',
    )
  })

  it('receive messages on their own streams only, until their own session ends', async () => {
    const [ann, cid] = [await open('ann'), await open('cid')]
    const [hers, his] = [
      new EventReader(await ann.ask('GET')),
      new EventReader(await cid.ask('GET')),
    ]
    await Promise.all([hers.next(), his.next()])
    expect((await ann.ask('DELETE')).status).toBe(200)
    expect(await hers.next()).toBeUndefined()
    await workerd.get('/notify')
    expect((await his.next())?.message?.method).toBe(LISTS)
    expect((await lastMessage(await cid.send(ping))).result).toEqual({})
    await his.cancel()
  })

  it('are served in the object of the key, which no session id can address', async () => {
    const { id } = await open('ann')
    const [object] = id.split('.')
    const other = await open('ann')
    for (const made of [object!, `${object}.`, `${object}.${crypto.randomUUID()}`]) {
      expect((await other.send(ping, made)).status).toBe(404)
      expect((await other.ask('GET', made)).status).toBe(404)
      expect((await other.ask('DELETE', made)).status).toBe(404)
    }
  })
})
