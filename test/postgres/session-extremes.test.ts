// What clients may send of everything: many answers, long ids, odd names.
import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/index.ts'
import type { Sql } from 'postgres'
import { resumableCalls, text, type Server } from '../../src/presets/server.ts'
import { eventually } from './database.ts'
import {
  call,
  openFleet,
  openSession,
  textOf,
  type FleetProcess,
  type FleetSession,
  type ReceivedStream,
} from './fleet.ts'

function define(server: Server): void {
  server.tool('ask', {}, async (_args, ctx) => {
    for (let n = 0; n < 4; n++) {
      await ctx.elicit({ message: `${n}`, schema: { type: 'object', properties: {} } })
    }
    return text('asked')
  })
  server.tool('wait', {}, async (_args, ctx) => {
    await new Promise<void>((resolve) => ctx.signal.addEventListener('abort', () => resolve()))
    return text('over')
  })
}

const answerTo = (question: JsonObject | undefined): JsonObject => ({
  jsonrpc: '2.0',
  id: question?.id,
  result: { action: 'accept', content: {} },
})

/** Answers the next question of a call through a process, as soon as it arrives. */
async function answerNext(
  session: FleetSession,
  asking: ReceivedStream,
  at: number,
  process: FleetProcess,
): Promise<Response> {
  await eventually(() => expect(asking.messages().length).toBeGreaterThan(at))
  return session.send(process, answerTo(asking.messages()[at]))
}

async function countAnswers(sql: Sql, schema: string): Promise<number> {
  return (await sql`SELECT FROM ${sql(schema)}.mcp_inbox`).length
}

describe('Answers that arrive at another process', () => {
  const ways = { 'can be run again': { calls: resumableCalls }, 'cannot be run again': {} }
  it.each(Object.entries(ways))(
    'are deleted while their call goes on, which %s',
    async (_way, options) => {
      const { processes, schema } = openFleet(2, define, options)
      const [one, two] = processes as [FleetProcess, FleetProcess]
      const session = await openSession(one)
      const asking = await session.stream(one, call(1, 'ask'))
      for (let n = 0; n < 3; n++) {
        expect((await answerNext(session, asking, n, two)).status).toBe(202)
      }
      await eventually(() => expect(asking.messages()).toHaveLength(4))
      await eventually(async () => expect(await countAnswers(schema.sql, schema.schema)).toBe(0))
      await answerNext(session, asking, 3, two)
      await eventually(() => expect(textOf(asking.messages()[4])).toBe('asked'))
    },
  )

  it('all reach their calls, however many there are at once', async () => {
    const { processes } = openFleet(2, define, { calls: resumableCalls })
    const [one, two] = processes as [FleetProcess, FleetProcess]
    const session = await openSession(one)
    const calls = await Promise.all(
      Array.from({ length: 150 }, (_, id) => session.stream(one, call(id, 'ask'))),
    )
    for (let n = 0; n < 4; n++) {
      const answered = await Promise.all(calls.map((each) => answerNext(session, each, n, two)))
      expect(new Set(answered.map(({ status }) => status))).toEqual(new Set([202]))
    }
    await eventually(() => expect(calls.every((each) => each.ended())).toBe(true))
    expect(new Set(calls.map((each) => textOf(each.messages()[4])))).toEqual(new Set(['asked']))
  })

  it('are refused with 503 while too many of the session wait', async () => {
    const { processes, schema } = openFleet(2, define)
    const [one, two] = processes as [FleetProcess, FleetProcess]
    const session = await openSession(one)
    const asking = await session.stream(one, call(1, 'ask'))
    await eventually(() => expect(asking.messages()).toHaveLength(1))
    const tables = schema.sql(schema.schema)
    await schema.sql`
      INSERT INTO ${tables}.mcp_inbox (session, id, message)
      SELECT ${session.id}, n, '{}' FROM generate_series(1001, 2000) AS n`
    const refused = await answerNext(session, asking, 0, two)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    await schema.sql`DELETE FROM ${tables}.mcp_inbox`
    expect((await answerNext(session, asking, 0, two)).status).toBe(202)
    await eventually(() => expect(asking.messages()).toHaveLength(2))
  })
})

describe('A session', () => {
  it('waits for a call with an id that is too long for an index, without failing', async () => {
    const { processes } = openFleet(2, define)
    const [one] = processes as [FleetProcess]
    const session = await openSession(one)
    const [long, short] = [randomBytes(6000).toString('base64'), 'short']
    const waiting = session.send(one, call(long, 'wait'))
    const known = session.send(one, call(short, 'wait'))
    // Once the ids of calls that take long are known, another process refuses the short one
    await eventually(async () => {
      expect(
        (
          await session.send(processes[1] as FleetProcess, {
            jsonrpc: '2.0',
            id: short,
            method: 'ping',
          })
        ).status,
      ).toBe(400)
    })
    expect(one.errors).toEqual([])
    await session.end(one)
    await Promise.all([waiting, known])
  })

  it.each([
    ['with a character that Postgres does not store', 'a\0b'],
    ['that is too long for an index', randomBytes(9000).toString('base64')],
  ])('belongs to a principal %s', async (_name, principal) => {
    const { processes } = openFleet(2, define)
    const [one, two] = processes as [FleetProcess, FleetProcess]
    const session = await openSession(one, { caller: { principal } })
    expect(await session.ask(two, { jsonrpc: '2.0', id: 1, method: 'ping' })).toHaveProperty(
      'result',
    )
  })
})
