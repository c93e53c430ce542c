// How many sessions there may be over all processes, how long they live, and changes at the same time.
import { describe, expect, it } from 'vitest'
import { text, type Caller, type Server } from '../../src/presets/server.ts'
import type { JsonObject } from '../../src/index.ts'
import { initializeRequest } from '../transport/streamable-http/post.ts'
import { call, openFleet, openSession, send, until, type FleetProcess } from './fleet.ts'

const ada = { principal: 'ada' }
const eve = { principal: 'eve' }
const ping = (id: number): JsonObject => ({ jsonrpc: '2.0', id, method: 'ping' })

function define(server: Server): void {
  server.tool('wait', {}, async (_args, ctx) => {
    await new Promise<void>((resolve) => ctx.signal.addEventListener('abort', () => resolve()))
    return text('over')
  })
  for (const name of ['a', 'b', 'c', 'd']) {
    server.resource(`note:///${name}`, { name }, () => name)
  }
}

const open = (process: FleetProcess, caller: Caller): Promise<Response> =>
  send(process, initializeRequest('2025-11-25'), {}, caller)

describe('Sessions of all processes together', () => {
  it('are limited for each caller, whose least recently used one ends first', async () => {
    const { processes } = openFleet(3, define, { maxSessions: 100, maxSessionsPerCaller: 3 })
    const [one, two, three] = processes as [FleetProcess, FleetProcess, FleetProcess]
    const other = await openSession(one, { caller: eve })
    const sessions = []
    for (const process of [one, two, three, one]) {
      sessions.push(await openSession(process, { caller: ada }))
    }
    const statuses = await Promise.all(
      [other, ...sessions].map(async (session) => (await session.send(two, ping(1))).status),
    )
    expect(statuses).toEqual([200, 404, 200, 200, 200])
  })

  it('are counted, however they come and go, also those from before they were counted', async () => {
    const { processes, schema } = openFleet(1, define)
    const { sql } = schema
    const [one] = processes as [FleetProcess]
    const table = (name: string) => sql(`${schema.schema}.${name}`)
    const counts = async (): Promise<[account: string, total: number][]> => {
      const rows = await sql<{ account: string; total: number }[]>`
        SELECT account, sum(total)::int AS total FROM ${table('mcp_counts')}
        GROUP BY account HAVING sum(total) <> 0 ORDER BY account`
      return rows.map(({ account, total }) => [account, total])
    }
    const session = await openSession(one, { caller: ada })
    await openSession(one, { caller: ada })
    await openSession(one, { caller: eve })
    await openSession(one)
    const before = await counts()
    expect(before.map(([, total]) => total)).toEqual([2, 1, 4, 1])
    // As an earlier version left the tables
    await sql`DROP TABLE ${table('mcp_counts')}`
    await sql`DROP TABLE ${table('mcp_rate_limits')}`
    await sql`DROP FUNCTION ${table('mcp_count_sessions')} CASCADE`
    await sql`UPDATE ${table('mcp_schema')} SET version = 3`
    await schema.open().storage.migrate()
    expect(await counts()).toEqual(before)
    await session.end(one)
    expect((await counts()).map(([, total]) => total)).toEqual([1, 1, 3, 1])
    await sql`DELETE FROM ${table('mcp_sessions')} WHERE account IS NOT NULL`
    expect(await counts()).toEqual([
      ['all', 1],
      ['null', 1],
    ])
    await sql`TRUNCATE ${table('mcp_sessions')}`
    expect(await counts()).toEqual([])
  })

  it('are opened without reading the others', async () => {
    const { processes, schema } = openFleet(1, define)
    const { sql } = schema
    const [one] = processes as [FleetProcess]
    await openSession(one, { caller: ada })
    await sql`INSERT INTO ${sql(`${schema.schema}.mcp_sessions`)} (id, record, account, weight)
      SELECT n::text, record, account, weight
      FROM ${sql(`${schema.schema}.mcp_sessions`)}, generate_series(1, 5000 - 1) AS n`
    const reads = async (): Promise<{ inserted: number; read: number }> => {
      const [row] = await sql<{ inserted: number; read: number }[]>`
        SELECT n_tup_ins::int AS inserted, (seq_tup_read + coalesce(idx_tup_fetch, 0))::int AS read
        FROM pg_stat_user_tables
        WHERE schemaname = ${schema.schema} AND relname = 'mcp_sessions'`
      return row ?? { inserted: 0, read: 0 }
    }
    await until(async () => expect((await reads()).inserted).toBe(5000))
    const { read } = await reads()
    for (let n = 0; n < 3; n++) {
      expect((await open(one, ada)).status).toBe(200)
    }
    // Statistics are published after a moment
    await until(async () => {
      await open(one, eve)
      expect((await reads()).inserted).toBeGreaterThan(5003)
    })
    expect((await reads()).read - read).toBeLessThan(500)
  })

  it('are refused with 503 while all are in use in other processes', async () => {
    const { processes } = openFleet(3, define, { maxSessions: 2, maxSessionsPerCaller: 2 })
    const [one, two, three] = processes as [FleetProcess, FleetProcess, FleetProcess]
    const listening = await openSession(one, { caller: eve })
    const stream = await listening.listen(one)
    const calling = await openSession(two, { caller: eve })
    const answer = calling.send(two, call(1, 'wait'))
    // Once other processes know the call
    await until(async () => expect((await calling.send(one, ping(1))).status).toBe(400))
    const refused = await open(three, ada)
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toBe('5')
    expect(await refused.json()).toHaveProperty('error.message', 'Too many sessions are in use')
    await stream.leave()
    await until(async () => expect((await open(three, ada)).status).toBe(200))
    expect((await listening.send(two, ping(2))).status).toBe(404)
    expect((await calling.send(three, ping(2))).status).toBe(200)
    await calling.end(three)
    await answer
  })

  it('end when they were idle for too long, but not while a call runs or a client listens', async () => {
    const { processes } = openFleet(2, define, { idleMs: 2_000 })
    const [one, two] = processes as [FleetProcess, FleetProcess]
    const calling = await openSession(one)
    const answer = calling.send(one, call(1, 'wait'))
    const listening = await openSession(two)
    const stream = await listening.listen(two)
    const idle = await openSession(one)
    const used = await openSession(one)
    const startedAt = performance.now()
    let requests = 0
    while (performance.now() - startedAt < 4_500) {
      expect((await used.send(requests++ % 2 ? one : two, ping(requests))).status).toBe(200)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    expect((await idle.send(two, ping(1))).status).toBe(404)
    expect((await calling.send(two, ping(2))).status).toBe(200)
    expect((await listening.send(one, ping(2))).status).toBe(200)
    expect(stream.ended()).toBe(false)
    await calling.end(two)
    await answer
  })

  it('belong to the principal that opened them', async () => {
    const { processes } = openFleet(2, define)
    const [one, two] = processes as [FleetProcess, FleetProcess]
    const session = await openSession(one, { caller: ada })
    const headers = { 'mcp-session-id': session.id }
    expect((await send(two, ping(1), headers, ada)).status).toBe(200)
    expect((await send(two, ping(1), headers, eve)).status).toBe(404)
    expect((await send(two, ping(1), headers)).status).toBe(404)
    expect((await send(two, ping(1), { 'mcp-session-id': `' OR '1'='1` }, ada)).status).toBe(404)
  })
})

describe('Changes of one session', () => {
  it('that arrive at several processes at the same time are all kept', async () => {
    const { processes, schema } = openFleet(4, define)
    const session = await openSession(processes[0] as FleetProcess, { handshake: false })
    const wanted = ['a', 'b', 'c', 'd'].map((name) => `note:///${name}`)
    const answers = await Promise.all([
      ...wanted.map((uri, n) =>
        session.ask(processes[n] as FleetProcess, {
          jsonrpc: '2.0',
          id: n,
          method: 'resources/subscribe',
          params: { uri },
        }),
      ),
      session.ask(processes[1] as FleetProcess, {
        jsonrpc: '2.0',
        id: 'level',
        method: 'logging/setLevel',
        params: { level: 'error' },
      }),
      session
        .send(processes[2] as FleetProcess, {
          jsonrpc: '2.0',
          method: 'notifications/initialized',
        })
        .then(({ status }) => ({ result: status === 202 })),
    ])
    for (const answer of answers) expect(answer).toHaveProperty('result')
    const [row] = await schema.sql<{ record: string }[]>`
      SELECT record FROM ${schema.sql(schema.schema)}.mcp_sessions`
    const record = JSON.parse(row?.record ?? '') as { subscriptions: string[] }
    expect(record).toMatchObject({ initialized: true, logLevel: 'error' })
    expect(record.subscriptions.toSorted()).toEqual(wanted)
  })

  it('apply to messages that any process sends afterwards', async () => {
    const { processes } = openFleet(2, (server) => {
      server.tool('log', {}, async (_args, ctx) => {
        await ctx.log('info', 'info')
        await ctx.log('error', 'error')
        return text('logged')
      })
    })
    const [one, two] = processes as [FleetProcess, FleetProcess]
    const session = await openSession(one)
    const waiting = await session.listen(one)
    const level = (id: number, name: string): JsonObject => {
      return { jsonrpc: '2.0', id, method: 'logging/setLevel', params: { level: name } }
    }
    for (const [n, name] of ['error', 'info', 'emergency'].entries()) {
      expect(await session.ask(two, level(n, name))).toHaveProperty('result')
      const response = await session.send(one, call(`${n}`, 'log'))
      const body = await response.text()
      expect(body.includes('"info"')).toBe(name === 'info')
      expect(body.includes('"error"')).toBe(name !== 'emergency')
    }
    await waiting.leave()
  })
})
