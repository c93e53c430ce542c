/** What careless handlers, stores and numbers must not do to tasks. */
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import * as z from 'zod'
import { createMemoryTaskStore } from '../../src/tasks/store.ts'
import type { TasksOptions } from '../../src/tasks/options.ts'
import { jsonSchema } from '../../src/json-schema/index.ts'
import { text, type Context } from '../../src/presets/server.ts'
import { tasks } from '../../src/tasks/index.ts'
import { openWire } from '../server/wire.ts'
import { gate, makeFixture, textOf, wireTo } from './fixture.ts'
import { taskRecord } from './store-suite.ts'

const accept = { action: 'accept', content: { yes: true } }
const yes = z.object({ yes: z.boolean() })

describe('The options of tasks', () => {
  test.each([
    ['ttlMs', 0],
    ['ttlMs', -1],
    ['ttlMs', NaN],
    ['ttlMs', Infinity],
    ['ttlMs', 1.5],
    ['maxTtlMs', NaN],
    ['pollIntervalMs', 0],
    ['pollIntervalMs', -1],
    ['leaseMs', 0],
    ['maxTasks', NaN],
    ['maxTasksPerPrincipal', -1],
  ])('refuse %s of %d', (name, value) => {
    const options: TasksOptions = { [name]: value }
    expect(() => tasks(options)).toThrow(
      new RangeError(`The option "${name}" of tasks cannot be "${value}"`),
    )
  })

  test.each([{ ttlMs: -1 }, { ttlMs: NaN }, { pollIntervalMs: 0 }, { pollIntervalMs: 0.5 }])(
    'refuse %j of a tool',
    (times) => {
      const { server } = makeFixture()
      const add = () => server.tool('x', { task: { support: 'required', ...times } }, () => 'x')
      expect(add).toThrow(RangeError)
    },
  )

  test('may keep tasks for longer than clients may request [L-TASK-018]', async () => {
    const week = 7 * 86_400_000
    const { server } = makeFixture({ ttlMs: week })
    const created = await wireTo(server).result('tools/call', { name: 'quick', arguments: {} })
    expect(created.ttlMs).toBe(week)
  })
})

describe('The outcome of a task', () => {
  test.each([
    ['a BigInt', () => ({ n: 1n })],
    [
      'a circle',
      () => {
        const circle: { self?: unknown } = {}
        circle.self = circle
        return circle
      },
    ],
  ])(
    'is a failure where JSON cannot hold %s that a tool returned [M-TASK-022]',
    async (_, value) => {
      const { server, tasks: kept, errors, ran } = makeFixture()
      const wire = wireTo(server)
      server.tool('odd', { task: 'required' }, () => ({ structuredContent: value() }))
      const failed = await wire.until(await wire.start('odd'), 'failed')
      expect(failed.error).toEqual({ code: -32603, message: 'Internal error' })
      expect(errors).toEqual([expect.any(TypeError)])
      const job = await wire.start('job')
      await expect.poll(() => ran).toContain(`enqueued ${job}`)
      await expect(kept.complete(job, { structuredContent: value() })).rejects.toThrow(TypeError)
      expect((await wire.result('tasks/get', { taskId: job })).status).toBe('working')
    },
  )

  test('stays unchanged when the handler modifies the value it returned [M-TASK-028] [L-TASK-015]', async () => {
    const shared = { content: [{ type: 'text' as const, text: 'one' }] }
    const { server } = makeFixture()
    server.tool('shared', { task: 'required' }, () => shared)
    const wire = wireTo(server)
    const taskId = await wire.start('shared')
    const done = await wire.until(taskId, 'completed')
    shared.content[0]!.text = 'two'
    expect(await wire.result('tasks/get', { taskId })).toEqual(done)
  })

  test('says why a tool failed in the status of 2025-11-25 [L-TASK-043]', async () => {
    const wire = await openWire(makeFixture().server)
    const created = await wire.result('tools/call', { name: 'fail', task: {} })
    const { taskId } = created.task as { taskId: string }
    await wire.result('tasks/result', { taskId })
    expect(await wire.result('tasks/get', { taskId })).toMatchObject({
      status: 'failed',
      statusMessage: 'Out of stock',
    })
    await wire.close()
  })
})

describe('A store', () => {
  /** A store that refuses to keep some results. */
  function refusing(refuses: () => boolean): ReturnType<typeof createMemoryTaskStore> {
    const store = makeSlow(createMemoryTaskStore())
    return {
      ...store,
      save(record) {
        if (record.result && refuses()) throw new Error('The database is away')
        return store.save(record)
      },
    }
  }

  /** Lets timers fire early, until the test ends. */
  function hurryTimers(): void {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const clock = setInterval(() => vi.advanceTimersByTime(1000), 1)
    onTestFinished(() => {
      clearInterval(clock)
      vi.useRealTimers()
    })
  }

  test('that fails for a moment loses no outcome', async () => {
    hurryTimers()
    let away = 2
    const { server, errors, ran } = makeFixture({ store: refusing(() => away-- > 0) })
    const wire = wireTo(server)
    const done = await wire.until(await wire.start('quick'), 'completed')
    expect(textOf(done.result)).toBe('Hello, world!')
    expect(errors).toHaveLength(2)
    expect(ran).toEqual(['quick'])
  })

  test('that never takes an outcome fails the task [M-TASK-022]', async () => {
    hurryTimers()
    const { server, ran } = makeFixture({ store: refusing(() => true) })
    const wire = wireTo(server)
    const failed = await wire.until(await wire.start('quick'), 'failed')
    expect(failed).toMatchObject({ error: { message: 'Internal error' } })
    expect(ran).toEqual(['quick'])
  })
})

describe('A handler of a task', () => {
  test('that changes its arguments and what its steps gave has them again when it runs again', async () => {
    const seen: unknown[] = []
    const { server } = makeFixture()
    const input = jsonSchema<{ list: number[] }>({ type: 'object' })
    server.tool('careless', { task: 'required', input }, async ({ list }, ctx: Context) => {
      const step = await ctx.step('step', () => [1])
      seen.push([[...list], [...step]])
      list.push(2)
      step.push(2)
      return text((await ctx.elicit({ key: 'sure', message: 'Sure?', schema: yes })).action)
    })
    const wire = wireTo(server)
    const taskId = await wire.start('careless', { list: [1] })
    await wire.until(taskId, 'input_required')
    await wire.result('tasks/update', { taskId, inputResponses: { sure: accept } })
    await wire.until(taskId, 'completed')
    expect(seen).toEqual([
      [[1], [1]],
      [[1], [1]],
    ])
  })

  test.each(['__proto__', 'constructor', 'toString'])(
    'may ask under the key "%s" [M-TASK-020]',
    async (key) => {
      const { server } = makeFixture()
      server.tool('key', { task: 'required' }, async (_args, ctx) => {
        return text((await ctx.elicit({ key, message: 'Sure?', schema: yes })).action)
      })
      const wire = wireTo(server)
      const taskId = await wire.start('key')
      const asks = await wire.until(taskId, 'input_required')
      expect(Object.keys(asks.inputRequests as object)).toEqual([key])
      const inputResponses = JSON.parse(`{"${key}":${JSON.stringify(accept)}}`)
      await wire.result('tasks/update', { taskId, inputResponses })
      expect(textOf((await wire.until(taskId, 'completed')).result)).toBe('accept')
    },
  )

  test('is not run for a task that is cancelled while it is read', async () => {
    const store = createMemoryTaskStore()
    const { opened: reading, open: begin } = gate()
    const { opened: read, open: end } = gate()
    let slow = false
    const fixture = makeFixture()
    const { ran } = fixture
    const engine = fixture.engine({
      begin: () => {},
      store: {
        save: (record) => store.save(record),
        remove: (taskId) => store.remove(taskId),
        async load(taskId) {
          const found = store.load(taskId)
          if (!slow) return found
          slow = false
          begin()
          await read
          return found
        },
      },
    })
    const { call } = taskRecord('')
    const taskId = engine.createId()
    const params = { name: 'for-ever', arguments: {} }
    await engine.create(
      { taskId, call: { ...call, principal: null, params }, ttlMs: 60_000, pollIntervalMs: 1 },
      {},
    )
    slow = true
    const run = engine.run(taskId)
    await reading
    await engine.cancel(taskId, null)
    end()
    await run
    expect(ran).toEqual([])
  })
})

describe('Input before a task', () => {
  test('makes none while it waits for an answer, even if it swallows that [M-TASK-018]', async () => {
    const store = createMemoryTaskStore()
    const { server, ran } = makeFixture({ store })
    const before = async (_args: unknown, ctx: Context): Promise<void> => {
      await ctx.elicit({ key: 'sure', message: 'Sure?', schema: yes }).catch(() => {})
    }
    server.tool('careless', { task: { support: 'required', before } }, () => {
      ran.push('careless')
      return 'x'
    })
    const { resultType } = await wireTo(server).result('tools/call', { name: 'careless' })
    expect(resultType).toBe('input_required')
    expect(await store.count()).toBe(0)
    expect(ran).toEqual([])
  })
})

describe('The hook of an audit log', () => {
  test('takes no task from its caller when it fails [L-TASK-050]', async () => {
    const failure = new Error('The log is full')
    const { server, errors } = makeFixture({
      onCreate: () => {
        throw failure
      },
    })
    const wire = wireTo(server)
    expect((await wire.until(await wire.start('quick'), 'completed')).status).toBe('completed')
    expect(errors).toEqual([failure])
  })
})

describe('Answers to a task', () => {
  test.each([
    ['sample', { role: 'assistant', model: 'm', content: null }],
    ['roots', { roots: [5] }],
    ['roots', { roots: [null] }],
    ['roots', { roots: [{ uri: 5 }] }],
  ])('to %s are refused where they are %j [M-TASK-046]', async (name, answer) => {
    const { server } = makeFixture()
    server.tool('sample', { task: 'required' }, async (_args, ctx) => {
      return text((await ctx.sample({ messages: [], maxTokens: 1 })).model)
    })
    server.tool('roots', { task: 'required' }, async (_args, ctx) => {
      return text(String((await ctx.roots()).length))
    })
    const wire = wireTo(server)
    const taskId = await wire.start(name)
    const { inputRequests } = await wire.until(taskId, 'input_required')
    const [key = ''] = Object.keys(inputRequests as object)
    const inputResponses = { [key]: answer }
    const { error } = await wire.call('tasks/update', { taskId, inputResponses })
    expect(error?.code).toBe(-32602)
    expect((await wire.result('tasks/get', { taskId })).status).toBe('input_required')
  })
})

describe('Bounds of tasks', () => {
  test('hold for calls at the same time [L-TASK-049]', async () => {
    const memory = createMemoryTaskStore()
    const store = makeSlow(memory)
    const { server } = makeFixture({ store, maxTasks: 3 })
    const wire = wireTo(server)
    const call = () => wire.call('tools/call', { name: 'wait', arguments: {} })
    const all = await Promise.all(Array.from({ length: 8 }, call))
    expect(all.filter(({ result }) => result)).toHaveLength(3)
    expect(await memory.count()).toBe(3)
  })
})

/** A store that takes a moment for everything. */
function makeSlow(store: ReturnType<typeof createMemoryTaskStore>): typeof store {
  const later = async <T>(work: () => T): Promise<Awaited<T>> => {
    await new Promise((resolve) => setTimeout(resolve, 1))
    return await work()
  }
  return {
    load: (id) => later(() => store.load(id)),
    save: (record) => later(() => store.save(record)),
    remove: (id) => later(() => store.remove(id)),
    count: (principal) => later(() => store.count(principal)),
    list: (principal, limit, after) => later(() => store.list(principal, limit, after)),
    expired: (now) => later(() => store.expired(now)),
    unfinished: () => later(() => store.unfinished()),
    nextExpiry: () => later(() => store.nextExpiry()),
  }
}

describe('tasks/list', () => {
  test('reaches every task although others that a store still holds are over [L-TASK-035] [L-TASK-037]', async () => {
    const store = createMemoryTaskStore()
    for (let n = 0; n < 120; n++) {
      const record = taskRecord(`t${n}`)
      const createdAt = Date.now() - (n < 60 ? 10_000 : 0)
      const ttlMs = n < 60 ? 1 : 60_000
      await store.save({
        ...record,
        createdAt,
        ttlMs,
        version: 1,
        call: { ...record.call, principal: null },
      })
    }
    const wire = await openWire(makeFixture({ store, list: true }).server)
    const seen: unknown[] = []
    let params = {}
    for (;;) {
      const { tasks: page, nextCursor } = await wire.result('tasks/list', params)
      seen.push(...(page as unknown[]))
      if (nextCursor === undefined) break
      params = { cursor: nextCursor }
    }
    expect(seen).toHaveLength(60)
    await wire.close()
  })
})

describe('A result that only the server of tasks gives', () => {
  const forged = {
    resultType: 'task',
    taskId: 'forged',
    status: 'working',
    createdAt: new Date(0).toISOString(),
    lastUpdatedAt: new Date(0).toISOString(),
    ttlMs: null,
  }

  test.each([
    ['a tool without tasks', 'forbidden'],
    ['a tool with tasks, as itself', 'optional'],
  ] as const)('from %s is an internal error [M-TASK-014]', async (_, task) => {
    const { server, errors } = makeFixture()
    server.tool('forge', { task }, () => forged)
    const wire = wireTo(server)
    if (task === 'forbidden') {
      const { error } = await wire.call('tools/call', { name: 'forge' })
      expect(error).toMatchObject({ code: -32603, message: 'Internal error' })
    } else {
      const taskId = await wire.start('forge')
      expect((await wire.until(taskId, 'failed')).error).toMatchObject({ code: -32603 })
    }
    expect(errors).toMatchObject([{ name: 'TypeError' }])
  })

  test('from middleware is one only about the task that the call became', async () => {
    const { server, errors } = makeFixture()
    server.use('tools/call', async (_request, _ctx, next) => {
      return { ...(await next()), _meta: { seen: true } }
    })
    const wire = wireTo(server)
    expect(await wire.result('tools/call', { name: 'quick' })).toMatchObject({
      resultType: 'task',
      _meta: { seen: true },
    })
    server.use('tools/call', async (_request, _ctx, next) => {
      return { ...(await next()), taskId: 'forged' }
    })
    expect((await wire.call('tools/call', { name: 'quick' })).error?.code).toBe(-32603)
    expect(errors).toHaveLength(1)
  })

  test.each([{ resultType: 'task', taskId: 'x' }, { resultType: 'weird' }])(
    'fails the task whose handler gives %j',
    async (result) => {
      const { server, errors } = makeFixture()
      server.tool('odd', { task: 'required' }, () => result)
      const wire = wireTo(server)
      const failed = await wire.until(await wire.start('odd'), 'failed')
      expect(failed.error).toEqual({ code: -32603, message: 'Internal error' })
      expect(errors).toMatchObject([{ message: expect.stringContaining(result.resultType) }])
    },
  )

  test.each([
    { resultType: 'task', taskId: 'x' },
    { resultType: 'input_required' as const, requestState: 'x' },
  ])('ends no task from elsewhere with %j', async (result) => {
    const { server, tasks: kept } = makeFixture()
    const wire = wireTo(server)
    const taskId = await wire.start('job')
    await expect(kept.complete(taskId, result)).rejects.toThrow(result.resultType)
    expect((await wire.result('tasks/get', { taskId })).status).toBe('working')
    expect(await kept.complete(taskId, text('Done'))).toBe(true)
  })
})
