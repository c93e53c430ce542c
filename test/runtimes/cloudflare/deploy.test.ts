// Other code, and other times, in the middle of what a session does.
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { lastMessage, openSession } from '../../transport/streamable-http/post.ts'
import { EventReader, listen, resume } from './events.ts'
import { bundleWorker, startWorker, type Workerd } from './workerd.ts'

const LISTS = 'notifications/tools/list_changed'
const URI = 'note://one'
const HOUR = 3_600_000

let script: string
let workerd: Workerd

beforeAll(async () => {
  script = await bundleWorker('unwell.ts')
})
beforeEach(async () => {
  workerd = await startWorker(script)
})
afterEach(() => workerd.stop())

/** The code after a change. */
function changed(before: string, after: string): string {
  expect(script).toContain(before)
  return script.replaceAll(before, after)
}
const message = (id: number, method: string, params: object = {}): object => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
})
const confirm = message(1, 'tools/call', { name: 'confirm', arguments: { what: 'tea' } })
const accept = { action: 'accept', content: { yes: true } }
const open = async (id: string, after?: string): Promise<EventReader> =>
  after === undefined
    ? new EventReader(await listen(workerd.handle, id))
    : resume(workerd.handle, id, after)

describe('New code', () => {
  it('is served to a session of the old one, whose idle stream continues where it was', async () => {
    const { id, send } = await openSession(workerd.handle, '2025-11-25')
    await send(message(1, 'resources/subscribe', { uri: URI }))
    const stream = await open(id)
    await stream.next()
    await workerd.get('/notify')
    const seen = (await stream.next())!.id
    await workerd.restart(changed('Adds two numbers.', 'Adds any two numbers.'))
    await stream.next().catch(() => undefined)
    await workerd.get('/notify')
    await workerd.get(`/notify?uri=${URI}`)
    const resumed = await open(id, seen)
    expect((await resumed.next())?.message?.method).toBe(LISTS)
    expect((await resumed.next())?.message?.params).toEqual({ uri: URI })
    const { result } = await lastMessage(await send(message(2, 'tools/list')))
    expect(JSON.stringify(result)).toContain('Adds any two numbers.')
    await resumed.cancel()
  })

  /** The answer of a call that asked the old code and is answered by new code. */
  async function answeredBy(deployed: string): Promise<object> {
    const { id, send } = await openSession(workerd.handle, '2025-11-25', { elicitation: {} })
    const asked = await new EventReader(await send(confirm)).until('elicitation/create')
    await workerd.restart(deployed)
    const answer = { jsonrpc: '2.0', id: asked.message?.id, result: accept }
    expect((await send(answer)).status).toBe(202)
    const resumed = await open(id, asked.id)
    const { message: reply } = await resumed.until('"id":1')
    expect(await resumed.next(), 'The stream ends after the response').toBeUndefined()
    expect((await lastMessage(await send(message(2, 'ping')))).result).toEqual({})
    return reply!
  }

  it('continues with an answer to a question of the old code', async () => {
    expect(await answeredBy(changed('bought: ', 'bought and paid: '))).toHaveProperty(
      'result.content.0.text',
      'bought and paid: true',
    )
  })

  it('that asks a different question makes the call fail with an error', async () => {
    const reply = await answeredBy(changed('`Buy ${what}', '`Order ${what}'))
    expect(reply).toHaveProperty('error.code', -32603)
    expect(reply).not.toHaveProperty('result')
  })

  it('that no longer asks a question returns the result', async () => {
    const asks = /await ctx\.elicit\(\{\s*message: `Buy[^;]*;/
    expect(asks.test(script)).toBe(true)
    const deployed = script.replace(asks, '{ action: "declined by new code" };')
    expect(await answeredBy(deployed)).toHaveProperty(
      'result.content.0.text',
      'declined by new code',
    )
  })

  it('without the tool reports an unknown tool', async () => {
    const reply = await answeredBy(changed('"confirm",', '"confirm-later",'))
    expect(JSON.stringify(reply)).toContain('Unknown tool')
  })
})

describe('A clock that is ahead, and was not', () => {
  const clockIsAhead = (ms: number): Promise<Response> => workerd.get(`/clock-is-ahead?ms=${ms}`)
  const ring = (id: string): Promise<Response> => workerd.get(`/ring-session?session=${id}`)

  it('ends by an alarm, which may ring early, twice or a day late, only who is gone', async () => {
    const sessions = await Promise.all(
      ['listening', 'calling', 'gone'].map(() => openSession(workerd.handle, '2025-11-25')),
    )
    const [listening, calling, gone] = sessions as [(typeof sessions)[0], ...typeof sessions]
    const stream = await open(listening.id)
    await stream.next()
    for (const { id } of sessions) await ring(id)
    await clockIsAhead(25 * HOUR)
    expect((await calling!.send(message(1, 'ping'))).status).toBe(200)
    for (const { id } of sessions) {
      const rung = await Promise.all([ring(id), ring(id)])
      expect(rung.map(({ status }) => status)).toEqual([200, 200])
    }
    expect((await gone!.send(message(2, 'ping'))).status).toBe(404)
    await clockIsAhead(0)
    for (const { id } of sessions) await ring(id)
    await workerd.get('/notify')
    expect((await stream.next())?.message?.method).toBe(LISTS)
    for (const { send } of [listening, calling!]) {
      expect((await lastMessage(await send(message(3, 'ping')))).result).toEqual({})
    }
    await stream.cancel()
  })

  it('ends a session an hour after its last request, and not before', async () => {
    const { id, send } = await openSession(workerd.handle)
    await clockIsAhead(HOUR - 60_000)
    await ring(id)
    expect((await send(message(1, 'ping'))).status).toBe(200)
    await clockIsAhead(2 * HOUR - 120_000)
    await ring(id)
    expect((await send(message(2, 'ping'))).status).toBe(200)
    await clockIsAhead(3 * HOUR)
    await ring(id)
    expect((await send(message(3, 'ping'))).status).toBe(404)
  })

  it('takes no stream from a session that its hub asks for', async () => {
    const { id } = await openSession(workerd.handle, '2025-11-25')
    const stream = await open(id)
    const primed = (await stream.next())!.id
    for (const ms of [8 * 24 * HOUR, 0, -24 * HOUR]) {
      await clockIsAhead(ms)
      await Promise.all([workerd.get('/ring-hubs'), workerd.get('/ring-hubs')])
      await workerd.get('/notify')
      expect((await stream.next())?.message?.method).toBe(LISTS)
    }
    await stream.cancel()
    const resumed = await open(id, primed)
    for (let n = 0; n < 3; n++) expect((await resumed.next())?.message?.method).toBe(LISTS)
    await resumed.cancel()
  })

  it('makes a question of a waiting call no older than its client', async () => {
    const { id, send } = await openSession(workerd.handle, '2025-11-25', { elicitation: {} })
    const reader = new EventReader(await send(confirm))
    const asked = await reader.until('elicitation/create')
    await clockIsAhead(-HOUR)
    await ring(id)
    await send({ jsonrpc: '2.0', id: asked.message?.id, result: accept })
    expect((await reader.until('"id":1')).message).toHaveProperty(
      'result.content.0.text',
      'bought: true',
    )
  })
})
