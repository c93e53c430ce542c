// Streams of calls that clients resume through any process, and calls whose process is gone.
import { describe, expect, it } from 'vitest'
import { resumableCalls, text, type Server } from '../../src/presets/server.ts'
import type { JsonObject } from '../../src/index.ts'
import { call, openFleet, openSession, textOf, until, type ReceivedStream } from './fleet.ts'

const schema = { type: 'object', properties: { name: { type: 'string' } } } as const
const answerTo = (question: JsonObject | undefined, name: string): JsonObject => ({
  jsonrpc: '2.0',
  id: question?.id,
  result: { action: 'accept', content: { name } },
})
const questions = (stream: ReceivedStream): JsonObject[] =>
  stream.messages().filter(({ method }) => method === 'elicitation/create')
const answerOf = (stream: ReceivedStream): string =>
  textOf(stream.messages().find((message) => 'result' in message || 'error' in message))

/** Servers with tools that a test lets go on, and what these did. */
function tools() {
  const done: string[] = []
  const going = new Map<string, () => void>()
  const define = (server: Server, index: number): void => {
    server.tool('count', {}, async (_args, ctx) => {
      for (let n = 0; n < 3; n++) {
        await new Promise<void>((resolve) => going.set(`${index}`, resolve))
        await ctx.log('error', `${n}`)
      }
      return text('counted')
    })
    server.tool('order', {}, async (_args, ctx) => {
      await ctx.step('reserve', () => done.push(`reserve ${index}`))
      const name = await ctx.elicit({ message: 'Who?', schema })
      await ctx.step('pay', () => done.push(`pay ${index}`))
      const place = await ctx.elicit({ message: 'Where?', schema })
      return text(`${JSON.stringify([name, place])} by ${index}`)
    })
    server.tool('hang', {}, async (_args, ctx) => {
      await ctx.step('begin', () => done.push(`begin ${index}`))
      await ctx.log('error', 'begun')
      if (index === 0) await new Promise(() => {})
      return text(`ended by ${index}`)
    })
  }
  const go = async (index: number): Promise<void> => {
    await until(() => expect(going.has(`${index}`)).toBe(true))
    going.get(`${index}`)?.()
    going.delete(`${index}`)
  }
  return { define, done, go }
}

describe('The stream of a call', () => {
  it('is resumed through another process while the call runs', async () => {
    const { define, go } = tools()
    const { processes } = openFleet(2, define)
    const [one, two] = processes as [never, never]
    const session = await openSession(one)
    const opening = session.stream(one, call(1, 'count'))
    await go(0)
    const first = await opening
    await until(() => expect(first.messages()).toHaveLength(1))
    const second = await session.listen(two, first.lastId())
    await until(() => expect(first.ended()).toBe(true))
    await go(0)
    await until(() => expect(second.messages()).toHaveLength(1))
    await go(0)
    await until(() => expect(second.ended()).toBe(true))
    expect(second.messages().map(({ method }) => method)).toEqual([
      'notifications/message',
      'notifications/message',
      undefined,
    ])
    expect(answerOf(second)).toBe('counted')
  })

  it('is resumed from any of its events after the call ended, and by a client that returns', async () => {
    const { define, go } = tools()
    const { processes } = openFleet(3, define)
    const [one, two, three] = processes as [never, never, never]
    const session = await openSession(one)
    const opening = session.stream(one, call(1, 'count'))
    await go(0)
    const first = await opening
    await until(() => expect(first.messages()).toHaveLength(1))
    await first.leave()
    await go(0)
    const back = await session.listen(one, first.lastId())
    await until(() => expect(back.messages()).toHaveLength(1))
    await go(0)
    await until(() => expect(back.ended()).toBe(true))
    expect(answerOf(back)).toBe('counted')
    const all = [...first.events, ...back.events.filter(({ message }) => message)]
    for (const process of [two, three, one]) {
      for (const [n, { id }] of all.entries()) {
        if (id === undefined) continue
        const again = await session.listen(process, id)
        await until(() => expect(again.ended()).toBe(true))
        const rest = all.slice(n + 1).flatMap(({ message }) => (message ? [message] : []))
        expect(again.messages()).toEqual(rest)
      }
    }
  })

  it('is unknown to other sessions', async () => {
    const { define, go } = tools()
    const { processes } = openFleet(2, define)
    const [one, two] = processes as [never, never]
    const session = await openSession(one)
    const other = await openSession(two)
    const opening = session.stream(one, call(1, 'count'))
    await go(0)
    const first = await opening
    await until(() => expect(first.messages()).toHaveLength(1))
    for (const id of [first.lastId(), 'x_1', 'listening_x', '_', `${first.lastId()}9`]) {
      expect((await other.listen(two, id)).response.status).toBe(400)
    }
    await session.end(one)
  })
})

describe('What was sent on a stream', () => {
  it('is the same for a client that resumes, whatever its size and text', async () => {
    const texts = ['\0', '\ud800', '𝄞', `'; DROP TABLE mcp_events; --`, '\\', 'é𝄞'.repeat(500_000)]
    const { processes } = openFleet(2, (server) => {
      server.tool('say', {}, async (_args, ctx) => {
        for (const each of texts) await ctx.log('error', each)
        return text('said')
      })
    })
    const [one, two] = processes as [never, never]
    const session = await openSession(one)
    const first = await session.stream(one, call(1, 'say'))
    await until(() => expect(first.ended()).toBe(true))
    const again = await session.listen(two, first.events[0]?.id)
    await until(() => expect(again.ended()).toBe(true))
    expect(again.messages()).toHaveLength(texts.length + 1)
    expect(JSON.stringify(again.messages()) === JSON.stringify(first.messages())).toBe(true)
  })

  it('is bounded, and the oldest is deleted first', async () => {
    const { processes } = openFleet(2, (server) => {
      server.tool('count', {}, async (_args, ctx) => {
        for (let n = 0; n < 3000; n++) await ctx.progress(n)
        return text('counted')
      })
    })
    const [one, two] = processes as [never, never]
    const session = await openSession(one)
    const { params, ...message } = call(1, 'count') as { params: JsonObject }
    const counting = { ...message, params: { ...params, _meta: { progressToken: 1 } } }
    const first = await session.stream(one, counting)
    await until(() => expect(first.ended()).toBe(true))
    const ids = first.events.flatMap(({ id, message }) => (message && id !== undefined ? [id] : []))
    expect(ids).toHaveLength(3001)
    await until(async () => {
      const early = await session.listen(two, ids[0])
      expect(early.response.status).toBe(400)
    })
    const late = await session.listen(two, ids[2500])
    await until(() => expect(late.ended()).toBe(true))
    expect(late.messages()).toHaveLength(500)
  })
})

describe('A call whose process is gone', () => {
  it('is run again by the process through which its client resumes, without steps that were done', async () => {
    const { define, done } = tools()
    const fleet = openFleet(2, define, { calls: resumableCalls })
    const [one, two] = fleet.processes as [never, never]
    const session = await openSession(one)
    const first = await session.stream(one, call(1, 'hang'))
    await until(() => expect(first.messages()).toHaveLength(1))
    await fleet.declareDead(0)
    const second = await session.listen(two, first.lastId())
    await until(() => expect(second.ended()).toBe(true))
    expect(answerOf(second)).toBe('ended by 1')
    expect(done).toEqual(['begin 0'])
  })

  it('is run again for a client that resumed through another process before', async () => {
    const { define, done } = tools()
    const fleet = openFleet(2, define, { calls: resumableCalls })
    const [one, two] = fleet.processes as [never, never]
    const session = await openSession(one)
    const first = await session.stream(one, call(1, 'hang'))
    await until(() => expect(first.messages()).toHaveLength(1))
    const second = await session.listen(two, first.lastId())
    await until(() => expect(first.ended()).toBe(true))
    await fleet.declareDead(0)
    await until(() => expect(second.ended()).toBe(true))
    expect(answerOf(second)).toBe('ended by 1')
    expect(done).toEqual(['begin 0'])
  })

  it('is run again with the answers of its client, which is not asked twice', async () => {
    const { define, done } = tools()
    const fleet = openFleet(3, define, { calls: resumableCalls })
    const [one, two, three] = fleet.processes as [never, never, never]
    const session = await openSession(one)
    const first = await session.stream(one, call(1, 'order'))
    await until(() => expect(questions(first)).toHaveLength(1))
    await session.send(two, answerTo(questions(first)[0], 'Ada'))
    await until(() => expect(questions(first)).toHaveLength(2))
    await fleet.declareDead(0)
    const second = await session.listen(two, first.lastId())
    await session.send(three, answerTo(questions(first)[1], 'Rome'))
    await until(() => expect(second.ended()).toBe(true))
    expect(answerOf(second)).toContain('Ada')
    expect(answerOf(second)).toContain('Rome')
    expect(answerOf(second)).not.toContain('by 0')
    expect(questions(second)).toEqual([])
    expect(done).toEqual(['reserve 0', 'pay 0'])
  })

  it('is answered with an error where calls are not resumable', async () => {
    const { define, done } = tools()
    const fleet = openFleet(2, define)
    const [one, two] = fleet.processes as [never, never]
    const session = await openSession(one)
    const first = await session.stream(one, call(7, 'hang'))
    await until(() => expect(first.messages()).toHaveLength(1))
    await fleet.declareDead(0)
    const second = await session.listen(two, first.lastId())
    await until(() => expect(second.ended()).toBe(true))
    expect(second.messages()).toEqual([
      {
        jsonrpc: '2.0',
        id: 7,
        error: { code: -32603, message: 'The server was stopped while it answered the request' },
      },
    ])
    expect(done).toEqual(['begin 0'])
  })

  it('is answered with an error if it is part of a batch, even where calls are resumable', async () => {
    const { define, done } = tools()
    const fleet = openFleet(2, define, { calls: resumableCalls })
    const [one, two] = fleet.processes as [never, never]
    const session = await openSession(one, { revision: '2025-03-26' })
    const first = await session.stream(one, [call(7, 'hang'), call('b', 'hang')])
    await until(() => expect(first.messages()).toHaveLength(2))
    const calls = fleet.schema.sql(`${fleet.schema.schema}.mcp_calls`)
    await until(async () => {
      expect(await fleet.schema.sql`SELECT FROM ${calls}`).toHaveLength(2)
    })
    await fleet.declareDead(0)
    const second = await session.listen(two, first.lastId())
    await until(() => expect(second.ended()).toBe(true))
    const error = { code: -32603, message: 'The server was stopped while it answered the request' }
    expect(second.messages()).toHaveLength(2)
    expect(second.messages()).toEqual(
      expect.arrayContaining([
        { jsonrpc: '2.0', id: 7, error },
        { jsonrpc: '2.0', id: 'b', error },
      ]),
    )
    expect(done).toEqual(['begin 0', 'begin 0'])
  })

  it('is not run again once the client cancelled it', async () => {
    const { define, done } = tools()
    const fleet = openFleet(2, define, { calls: resumableCalls })
    const [one, two] = fleet.processes as [never, never]
    const session = await openSession(one)
    const first = await session.stream(one, call(7, 'hang'))
    await until(() => expect(first.messages()).toHaveLength(1))
    await fleet.declareDead(0)
    const params = { requestId: 7 }
    await session.send(two, { jsonrpc: '2.0', method: 'notifications/cancelled', params })
    const second = await session.listen(two, first.lastId())
    await until(() => expect(second.ended()).toBe(true))
    expect(second.messages()).toEqual([])
    expect(done).toEqual(['begin 0'])
  })
})
