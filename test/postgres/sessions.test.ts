// Sessions of the revisions up to 2025-11-25, whose requests reach any of several processes.
import { describe, expect, it } from 'vitest'
import { text, type Server } from '../../src/presets/server.ts'
import type { JsonObject } from '../../src/index.ts'
import {
  call,
  openFleet,
  openSession,
  textOf,
  until,
  type FleetProcess,
  type FleetSession,
} from './fleet.ts'

/** A server whose tools ask, wait and send. */
function define(server: Server, index: number): void {
  server.tool('where', {}, () => text(`${index}`))
  server.tool('ask', {}, async (_args, ctx) => {
    const answer = await ctx.elicit({
      message: 'Your name?',
      schema: { type: 'object', properties: { name: { type: 'string' } } },
    })
    return text(`${index} ${JSON.stringify(answer)}`)
  })
  server.tool('wait', {}, async (_args, ctx) => {
    await ctx.progress(0)
    await new Promise((_, reject) => {
      ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason as Error))
    })
    return text('never')
  })
  server.resource('note:///one', { name: 'one' }, () => 'one')
}

const progressing = (message: JsonObject): JsonObject => {
  const { params, ...rest } = message as { params: JsonObject }
  return { ...rest, params: { ...params, _meta: { progressToken: 1 } } }
}
const answerTo = (question: JsonObject | undefined, result: JsonObject): JsonObject => ({
  jsonrpc: '2.0',
  id: question?.id,
  result,
})

describe('A session', () => {
  it('is served by every process', async () => {
    const { processes } = openFleet(3, define)
    const [one, two, three] = processes as [never, never, never]
    const session = await openSession(one)
    const where: string[] = []
    for (const process of [two, three, one]) {
      where.push(textOf(await session.ask(process, call(1, 'where'))))
    }
    expect(where).toEqual(['1', '2', '0'])
  })

  it('gets answers to a question of one process through another', async () => {
    const { processes } = openFleet(2, define)
    const [one, two] = processes as [never, never]
    const session = await openSession(one)
    const asking = await session.stream(one, call(1, 'ask'))
    await until(() => expect(asking.methods()).toEqual(['elicitation/create']))
    const [question] = asking.messages()
    const answer = { action: 'accept', content: { name: 'Ada' } }
    expect((await session.send(two, answerTo(question, answer))).status).toBe(202)
    await until(() => expect(asking.messages()).toHaveLength(2))
    expect(textOf(asking.messages()[1])).toContain('Ada')
    await until(() => expect(asking.ended()).toBe(true))
  })

  it.each([
    ['sampling/createMessage', 'sample', { role: 'assistant', model: 'm', content: text('Hi') }],
    ['roots/list', 'roots', { roots: [{ uri: 'file:///a' }] }],
  ])('gets answers to %s of one process through another', async (method, name, result) => {
    const { processes } = openFleet(2, (server) => {
      server.tool('sample', {}, async (_args, ctx) => {
        const message = { role: 'user', content: text('Hello') } as const
        return text(JSON.stringify(await ctx.sample({ messages: [message], maxTokens: 1 })))
      })
      server.tool('roots', {}, async (_args, ctx) => text(JSON.stringify(await ctx.roots())))
    })
    const [one, two] = processes as [never, never]
    const session = await openSession(one)
    const asking = await session.stream(one, call(1, name))
    await until(() => expect(asking.methods()).toEqual([method]))
    await session.send(two, answerTo(asking.messages()[0], result))
    await until(() => expect(asking.ended()).toBe(true))
    expect(textOf(asking.messages()[1])).toMatch(/Hi|file:/)
  })

  it('rejects a question of one process to which another gets a malformed answer', async () => {
    const { processes } = openFleet(2, define)
    const [one, two] = processes as [never, never]
    const session = await openSession(one)
    const asking = await session.stream(one, call(1, 'ask'))
    await until(() => expect(asking.methods()).toEqual(['elicitation/create']))
    const { id } = asking.messages()[0] ?? {}
    expect((await session.send(two, { jsonrpc: '2.0', id, result: 'Ada' })).status).toBe(400)
    await until(() => expect(asking.ended()).toBe(true))
    expect(JSON.stringify(asking.messages()[1])).toContain('isError')
  })

  it('asks on several processes at once without confusing the answers', async () => {
    const { processes, schema } = openFleet(3, define)
    const session = await openSession(processes[0] as never)
    const streams = await Promise.all(
      Array.from({ length: 9 }, (_, n) =>
        session.stream(processes[n % 3] as never, call(n, 'ask')),
      ),
    )
    await until(() => {
      for (const stream of streams) expect(stream.methods()).toEqual(['elicitation/create'])
    })
    const asked = streams.map((stream) => stream.messages()[0])
    expect(new Set(asked.map((question) => question?.id)).size).toBe(9)
    for (const [n, question] of asked.entries()) {
      const answer = { action: 'accept', content: { name: `name ${n}` } }
      await session.send(processes[(n + 1) % 3] as never, answerTo(question, answer))
    }
    for (const [n, stream] of streams.entries()) {
      await until(() => expect(stream.ended()).toBe(true))
      expect(textOf(stream.messages()[1])).toContain(`name ${n}`)
    }
    // Nothing is left but what can be resumed
    for (const table of ['mcp_streams', 'mcp_inbox', 'mcp_calls']) {
      await until(async () => {
        const rows = await schema.sql`SELECT FROM ${schema.sql(schema.schema)}.${schema.sql(table)}`
        expect(rows, table).toHaveLength(0)
      })
    }
  })

  it('cancels a call of one process through another', async () => {
    const { processes } = openFleet(2, define)
    const [one, two] = processes as [never, never]
    const session = await openSession(one)
    const waiting = await session.stream(one, progressing(call('a', 'wait')))
    await until(() => expect(waiting.methods()).toEqual(['notifications/progress']))
    await session.send(two, {
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: 'a', reason: 'enough' },
    })
    await until(() => expect(waiting.ended()).toBe(true))
    expect(waiting.messages()).toHaveLength(1)
  })

  it('ends on all processes', async () => {
    const { processes } = openFleet(3, define)
    const [one, two, three] = processes as [never, never, never]
    const session = await openSession(one)
    const waiting = await session.stream(one, progressing(call('a', 'wait')))
    const listening = await session.listen(two)
    await until(() => expect(waiting.methods()).toEqual(['notifications/progress']))
    expect((await session.end(three)).status).toBe(200)
    await until(() => expect(waiting.ended() && listening.ended()).toBe(true))
    for (const process of [one, two, three]) {
      expect((await session.send(process, call(2, 'where'))).status).toBe(404)
    }
  })

  it('refuses the id of a request that another process is answering', async () => {
    const { processes } = openFleet(2, define)
    const [one, two] = processes as [never, never]
    const session = await openSession(one)
    const waiting = await session.stream(one, progressing(call('a', 'wait')))
    await until(() => expect(waiting.methods()).toEqual(['notifications/progress']))
    expect((await session.send(two, call('a', 'where'))).status).toBe(400)
    expect((await session.send(two, call('b', 'where'))).status).toBe(200)
    const silent = session.send(one, call('c', 'wait'))
    await until(async () => expect((await session.send(two, call('c', 'where'))).status).toBe(400))
    await session.end(two)
    expect(await (await silent).json()).toHaveProperty('error.message', 'The session ended')
  })
})

const subscribe = (session: FleetSession, process: never, id = 1): Promise<JsonObject> =>
  session.ask(process, {
    jsonrpc: '2.0',
    id,
    method: 'resources/subscribe',
    params: { uri: 'note:///one' },
  })

describe('Messages of no request', () => {
  it('reach the clients of all processes once each', async () => {
    const { processes } = openFleet(3, define)
    const streams = await Promise.all(
      [0, 1, 2, 3, 4, 5].map(async (n) => {
        const session = await openSession(processes[n % 3] as never)
        return session.listen(processes[(n + 1) % 3] as never)
      }),
    )
    for (let n = 0; n < 10; n++) {
      processes[n % 3]?.server.notify.toolsListChanged()
      await until(() => {
        for (const stream of streams) expect(stream.messages().length).toBeGreaterThan(n)
      })
    }
    for (const stream of streams) expect(stream.messages()).toHaveLength(10)
  })

  it('reach a client that subscribed through another process', async () => {
    const { processes } = openFleet(3, define)
    const [one, two, three] = processes as [never, never, never]
    const session = await openSession(one)
    const listening = await session.listen(one)
    expect(await subscribe(session, two)).toHaveProperty('result')
    processes[2]?.server.notify.resourceUpdated('note:///one')
    await until(() => expect(listening.methods()).toEqual(['notifications/resources/updated']))
    await session.ask(three, {
      jsonrpc: '2.0',
      id: 2,
      method: 'resources/unsubscribe',
      params: { uri: 'note:///one' },
    })
    processes[1]?.server.notify.resourceUpdated('note:///one')
    processes[1]?.server.notify.toolsListChanged()
    await until(() => expect(listening.messages()).toHaveLength(2))
    expect(listening.methods()[1]).toBe('notifications/tools/list_changed')
  })

  it('reach a client whose handshake ended at another process', async () => {
    const { processes } = openFleet(2, define)
    const [one, two] = processes as [never, never]
    const session = await openSession(one, { handshake: false })
    const listening = await session.listen(one)
    await session.send(two, { jsonrpc: '2.0', method: 'notifications/initialized' })
    processes[1]?.server.notify.toolsListChanged()
    await until(() => expect(listening.methods()).toEqual(['notifications/tools/list_changed']))
  })

  it('reach a client that comes back through another process, in their order', async () => {
    const { processes } = openFleet(3, define)
    const [one, two, three] = processes as [never, never, never]
    const session = await openSession(one)
    const first = await session.listen(one)
    processes[1]?.server.notify.toolsListChanged()
    await until(() => expect(first.messages()).toHaveLength(1))
    await subscribe(session, three)
    await first.leave()
    processes[0]?.server.notify.promptsListChanged()
    processes[0]?.server.notify.resourceUpdated('note:///one')
    processes[0]?.server.notify.resourceUpdated('note:///other')
    const second = await session.listen(two, first.lastId())
    await until(() => expect(second.messages()).toHaveLength(2))
    processes[2]?.server.notify.resourcesListChanged()
    await until(() => expect(second.messages()).toHaveLength(3))
    expect(second.methods()).toEqual([
      'notifications/prompts/list_changed',
      'notifications/resources/updated',
      'notifications/resources/list_changed',
    ])
    const again = await session.listen(three, first.lastId())
    await until(() => expect(again.methods()).toEqual(second.methods()))
  })

  it('announce a completed URL elicitation of any process to its client alone', async () => {
    const { processes } = openFleet(3, (server) => {
      server.tool('sign-in', {}, async (_args, ctx) => {
        const { elicitationId } = await ctx.elicitUrl({
          message: 'Sign in',
          url: 'https://a.example',
        })
        return text(String(elicitationId))
      })
    })
    const [one, two, three] = processes as [never, never, never]
    const params = { capabilities: { elicitation: { url: {} } } }
    const session = await openSession(one, { params })
    const other = await openSession(one, { params })
    const listening = await session.listen(three)
    const unrelated = await other.listen(three)
    const asking = await session.stream(two, call(1, 'sign-in'))
    await until(() => expect(asking.methods()).toEqual(['elicitation/create']))
    await session.send(one, answerTo(asking.messages()[0], { action: 'accept' }))
    await until(() => expect(asking.ended()).toBe(true))
    const elicitationId = textOf(asking.messages()[1])
    processes[0]?.server.notify.elicitationComplete(elicitationId)
    processes[0]?.server.notify.toolsListChanged()
    const [completed, changed] = [
      'notifications/elicitation/complete',
      'notifications/tools/list_changed',
    ]
    await until(() => expect(listening.methods()).toEqual([completed, changed]))
    expect(listening.messages()[0]?.params).toEqual({ elicitationId })
    await until(() => expect(unrelated.methods()).toEqual([changed]))
  })

  it('go to the newest of several connections, and to the one before when that is gone', async () => {
    const { processes } = openFleet(2, define)
    const [one, two] = processes as [never, never]
    const session = await openSession(one)
    const old = await session.listen(one)
    const young = await session.listen(two)
    processes[0]?.server.notify.toolsListChanged()
    await until(() => expect(young.messages()).toHaveLength(1))
    await young.leave()
    processes[1]?.server.notify.promptsListChanged()
    await until(() => expect(old.methods()).toEqual(['notifications/prompts/list_changed']))
  })

  it('are sent on only one stream while another stream is being resumed [L-HTTP-040]', async () => {
    const { processes, schema } = openFleet(1, define)
    const [one] = processes as [FleetProcess]
    const another = await openSession(one)
    const listening = await another.listen(one)
    const session = await openSession(one)
    const first = await session.listen(one)
    await first.leave()
    const second = await session.listen(one)
    // While the row is locked, the resumed stream cannot become the newest one
    let unlock = (): void => {}
    const unlocked = new Promise<void>((resolve) => (unlock = resolve))
    let locking: Promise<unknown> | undefined
    await new Promise<void>((resolve) => {
      locking = schema.sql.begin(async (sql) => {
        const table = sql(`${schema.schema}.mcp_sessions`)
        await sql`SELECT FROM ${table} WHERE id = ${session.id} FOR UPDATE`
        resolve()
        await unlocked
      })
    })
    const resumed = await session.listen(one, first.lastId())
    one.server.notify.toolsListChanged()
    await until(() => expect(listening.methods()).toHaveLength(1))
    unlock()
    await locking
    await until(() => expect(resumed.methods()).toEqual(['notifications/tools/list_changed']))
    expect(second.methods()).toEqual([])
  })

  it('stay on the stream that carried them when an older stream is resumed [L-HTTP-040] [L-HTTP-045]', async () => {
    const { processes } = openFleet(2, define)
    const [one, two] = processes as [never, never]
    const read = processes.map(({ server }) => {
      const methods: string[] = []
      server.notify.subscribe(({ method }) => methods.push(method))
      return methods
    })
    const announce = async (list: 'tools' | 'prompts' | 'resources'): Promise<void> => {
      processes[0]?.server.notify[`${list}ListChanged`]()
      await until(() => {
        for (const methods of read) expect(methods.at(-1)).toContain(list)
      })
    }
    const session = await openSession(one)
    const lost = await session.listen(one)
    await lost.leave()
    await announce('prompts')
    const other = await session.listen(two)
    await announce('resources')
    await until(() => expect(other.messages()).toHaveLength(1))
    const resumed = await session.listen(one, lost.lastId())
    await until(() => expect(resumed.messages()).toHaveLength(1))
    await announce('tools')
    await until(() => expect(resumed.messages()).toHaveLength(2))
    await resumed.leave()
    await announce('prompts')
    await until(() => expect(other.messages()).toHaveLength(2))
    const again = await session.listen(two, lost.lastId())
    await until(() => expect(again.messages()).toHaveLength(2))
    await announce('tools')
    await until(() => expect(again.messages()).toHaveLength(3))
    const lists = ({ methods }: typeof other): string[] =>
      methods().map((method) => String(method).split('/')[1] ?? '')
    expect(lists(resumed)).toEqual(['prompts', 'tools'])
    expect(lists(other)).toEqual(['resources', 'prompts'])
    expect(lists(again)).toEqual(['prompts', 'tools', 'tools'])
  })

  it('reach a stream, and a client that comes back, after a restored backup has fewer', async () => {
    const { processes, schema } = openFleet(2, define)
    const [one, two] = processes as [never, never]
    const session = await openSession(one)
    const first = await session.listen(one)
    for (let n = 0; n < 5; n++) processes[0]?.server.notify.toolsListChanged()
    await until(() => expect(first.messages().length).toBeGreaterThan(0))
    const table = schema.sql(`${schema.schema}.mcp_changes`)
    await until(async () => expect(await schema.sql`SELECT FROM ${table}`).not.toHaveLength(0))
    await schema.sql`TRUNCATE ${table} RESTART IDENTITY`
    await schema.sql`SELECT setval(pg_get_serial_sequence(${`${schema.schema}.mcp_changes`}, 'id'), 1)`
    const before = first.lastId()
    processes[1]?.server.notify.promptsListChanged()
    await until(() => expect(first.methods()).toContain('notifications/prompts/list_changed'))
    const count = first.messages().length
    processes[1]?.server.notify.resourcesListChanged()
    await until(() => expect(first.messages()).toHaveLength(count + 1))
    const resumed = await session.listen(two, before.replace(/_\d+/, '_1000000'))
    await until(() => expect(resumed.messages()).not.toHaveLength(0))
    const missed = resumed.messages().length
    processes[0]?.server.notify.toolsListChanged()
    await until(() => expect(resumed.messages().length).toBeGreaterThan(missed))
  })

  it('of other resources are not announced when an older connection takes over', async () => {
    const { processes, schema } = openFleet(2, define)
    const [one, two] = processes as [never, never]
    const session = await openSession(one)
    const older = await session.listen(one)
    const newer = await session.listen(two)
    // Each process hears the changes of the other one from the database, in their order
    const heard: string[][] = processes.map(({ server }) => {
      const methods: string[] = []
      server.notify.subscribe((change) => methods.push(change.method))
      return methods
    })
    for (let n = 0; n < 3; n++) processes[0]?.server.notify.resourceUpdated(`note:///other/${n}`)
    await until(() => expect(heard[1]).toHaveLength(3))
    processes[1]?.server.notify.resourceUpdated('note:///other/3')
    await until(() => expect(heard[0]).toHaveLength(4))
    // As if the others were announced more than an hour ago
    const table = schema.sql(`${schema.schema}.mcp_changes`)
    await schema.sql`DELETE FROM ${table} WHERE id < (SELECT max(id) FROM ${table})`
    await newer.leave()
    processes[0]?.server.notify.toolsListChanged()
    await until(() => expect(older.methods()).toEqual(['notifications/tools/list_changed']))
    processes[0]?.server.notify.promptsListChanged()
    await until(() => expect(older.methods()).toHaveLength(2))
    expect(older.methods()).toEqual([
      'notifications/tools/list_changed',
      'notifications/prompts/list_changed',
    ])
  })

  it('go to an older connection when the process of the newest is gone', async () => {
    const { processes, declareDead } = openFleet(2, define, { idleMs: 5_000 })
    const [one, two] = processes as [never, never]
    const session = await openSession(one)
    const old = await session.listen(one)
    const young = await session.listen(two)
    processes[0]?.server.notify.toolsListChanged()
    await until(() => expect(young.messages()).toHaveLength(1))
    expect(old.messages()).toEqual([])
    await declareDead(1)
    await until(() => {
      processes[0]?.server.notify.promptsListChanged()
      expect(old.methods()).toContain('notifications/prompts/list_changed')
    })
  })
})
