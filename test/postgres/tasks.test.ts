// Tasks of several processes that share a database.
import { describe, expect, it, onTestFinished } from 'vitest'
import type { PostgresClient } from '../../src/postgres/index.ts'
import { createPostgresStorage } from '../../src/postgres/index.ts'
import type { TasksOptions } from '../../src/tasks/options.ts'
import { openWire } from '../server/wire.ts'
import { gate, makeFixture, textOf, wireTo, type Fixture } from '../tasks/fixture.ts'
import { taskRecord, taskStoreSuite } from '../tasks/store-suite.ts'
import { eventually, openSchema, type TestProcess, type TestSchema } from './database.ts'
import { watchTask } from './watch-task.ts'

const accept = { action: 'accept', content: { yes: true } }

/** A time in which no lease ends and no client polls again. */
const NEVER_MS = 600_000

/** How long leases last in tests that wait for their end: longer than a busy machine takes. */
const LEASE_MS = 4_000

/** A process with a server whose tools are tasks. */
function openProcess(schema: TestSchema, options: TasksOptions = {}): TestProcess & Fixture {
  const opened = schema.open({ onError: () => {} })
  const store = opened.storage.taskStore()
  const times = { leaseMs: NEVER_MS, pollIntervalMs: NEVER_MS, ...options }
  return { ...opened, ...makeFixture({ store, ...times }) }
}

describe('The store of tasks in Postgres', () => {
  const suite = taskStoreSuite(() => {
    const schema = openSchema()
    const { storage } = schema.open()
    return Promise.resolve({
      store: storage.taskStore(),
      reopen: () => schema.open().storage.taskStore(),
    })
  })
  it.each(Object.entries(suite))('%s [M-TASK-072]', (_name, run) => run())

  it('keeps principals apart that differ only in characters which Postgres does not store', async () => {
    const store = openSchema().open().storage.taskStore()
    const { call, ...record } = taskRecord('')
    const principals = ['\0', '\ud800', '\udc00', '', 'null', null]
    for (const [n, principal] of principals.entries()) {
      await store.save({ ...record, taskId: `${n}`, call: { ...call, principal } })
    }
    for (const principal of principals) expect(await store.count(principal)).toBe(1)
    expect(await store.load('\0')).toBe(undefined)
  })
})

describe('A task of several processes', () => {
  it('that one process works on is answered through another, and goes on there', async () => {
    const schema = openSchema()
    const [one, two] = [openProcess(schema), openProcess(schema)]
    const taskId = await wireTo(one.server).start('ask')
    await wireTo(two.server).until(taskId, 'input_required')
    await wireTo(two.server).result('tasks/update', { taskId, inputResponses: { sure: accept } })
    const done = await wireTo(one.server).until(taskId, 'completed')
    expect(textOf(done.result)).toBe('accept true r1')
    expect([...one.ran, ...two.ran]).toEqual(['ask', 'price', 'ask', 'pay'])
  })

  it('is cancelled through any process, which stops its run at once', async () => {
    const schema = openSchema()
    const [one, two] = [openProcess(schema), openProcess(schema)]
    const taskId = await wireTo(one.server).start('for-ever')
    await eventually(() => expect(one.ran).toEqual(['for-ever']))
    await wireTo(two.server).result('tasks/cancel', { taskId })
    await eventually(() => expect(one.ran).toEqual(['for-ever', 'aborted']))
  })

  it('notifies a client of any process of each change at once', async () => {
    const schema = openSchema()
    const [one, two] = [openProcess(schema), openProcess(schema)]
    const taskId = await wireTo(one.server).start('wait')
    const seen = await watchTask(two.server, taskId)
    await eventually(() => expect(seen).toContainEqual(['working', 'Half way']))
    one.gate.open()
    await eventually(() => expect(seen.at(-1)).toEqual(['completed', undefined]))
  })

  it('sends what its handler logs to a 2025-11-25 client that waits at another process', async () => {
    const schema = openSchema()
    const [one, two] = [openProcess(schema), openProcess(schema)]
    const long = 'é𝄞\n'.repeat(5_000)
    let isHeard = false
    for (const { server } of [one, two]) {
      server.tool('chatty', { task: 'required' }, async (_args, ctx) => {
        while (!isHeard) {
          await ctx.log('info', 'Still here')
          await new Promise((resolve) => setTimeout(resolve, 10))
        }
        for (const data of ['a', 'b', long, 'c']) await ctx.log('info', data)
        return 'done'
      })
    }
    const first = await openWire(one.server)
    const second = await openWire(two.server)
    onTestFinished(() => Promise.all([first.close(), second.close()]).then(() => {}))
    const logged = (): unknown[] =>
      second.received.flatMap(({ method, params }) =>
        method === 'notifications/message' && params?.data !== 'Still here' ? [params?.data] : [],
      )
    const created = await first.result('tools/call', { name: 'chatty', task: {} })
    const { taskId } = created.task as { taskId: string }
    const result = second.result('tasks/result', { taskId })
    await eventually(() => {
      expect(second.received.map(({ method }) => method)).toContain('notifications/message')
    })
    isHeard = true
    expect(textOf(await result)).toBe('done')
    expect(logged()).toEqual(['a', 'b', long, 'c'])
  })

  it('whose process died is continued by exactly one of the others, and each step happens once', async () => {
    const schema = openSchema()
    const processes = [1, 2, 3, 4].map(() => openProcess(schema, { leaseMs: LEASE_MS }))
    const effects: string[] = []
    const { opened: reached, open: reach } = gate()
    let runs = 0
    for (const { server } of processes) {
      server.tool('two-steps', { task: 'required' }, async (_args, ctx) => {
        const isFirst = ++runs === 1
        await ctx.step('first', () => void effects.push('first'))
        if (isFirst) {
          reach()
          await new Promise(() => {})
        }
        await ctx.step('second', () => void effects.push('second'))
        return 'done'
      })
    }
    const [first, ...others] = processes
    if (!first) throw new Error('There are four')
    for (const { tasks } of others) await tasks.resume()
    const taskId = await wireTo(first.server).start('two-steps')
    await reached
    await first.sql.end({ timeout: 0 })
    const [second] = others
    if (!second) throw new Error('There are three')
    const done = await wireTo(second.server).until(taskId, 'completed')
    expect(textOf(done.result)).toBe('done')
    expect(effects).toEqual(['first', 'second'])
    expect(runs).toBe(2)
  })

  it('that was taken over cannot be changed any more by the process that lost it', async () => {
    const schema = openSchema()
    const { sql } = schema.open()
    const frozen = gate()
    let isFrozen = false
    // What a process does that was suspended for long: everything, but later
    const slow: PostgresClient = {
      begin: (work) => sql.begin((queries) => work(queries as unknown as PostgresClient)),
      listen: (channel, listener, listening) => sql.listen(channel, listener, listening),
      unsafe: (query, values, options) => {
        const sent = (isFrozen ? frozen.opened : Promise.resolve()).then(() =>
          sql.unsafe(query, values, options),
        )
        return Object.assign(sent, { cancel() {} })
      },
    }
    const storage = createPostgresStorage(slow, { schema: schema.schema, timeoutMs: NEVER_MS })
    onTestFinished(() => storage.close())
    const one = makeFixture({ store: storage.taskStore(), leaseMs: LEASE_MS })
    const two = openProcess(schema, { leaseMs: LEASE_MS })
    const outcomes: string[] = []
    const { opened: goOn, open } = gate()
    for (const [name, { server }] of Object.entries({ one, two })) {
      server.tool('named', { task: 'required' }, async (_args, ctx) => {
        if (name === 'two') return 'two'
        ctx.signal.addEventListener('abort', () => outcomes.push('aborted'))
        await goOn
        await ctx.step('late', () => void outcomes.push('stepped'))
        outcomes.push('returned')
        return 'one'
      })
    }
    const taskId = await wireTo(one.server).start('named')
    await eventually(async () => {
      const [row] = await sql`SELECT record ->> 'leasedBy' AS holder
        FROM ${sql(`${schema.schema}.mcp_tasks`)}`
      expect(row?.holder).toBeTruthy()
    })
    isFrozen = true
    await two.tasks.resume()
    expect(textOf((await wireTo(two.server).until(taskId, 'completed')).result)).toBe('two')
    open()
    isFrozen = false
    frozen.open()
    await eventually(() => expect(outcomes).toContain('aborted'))
    expect(textOf((await wireTo(one.server).until(taskId, 'completed')).result)).toBe('two')
  })
})
