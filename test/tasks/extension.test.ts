import { describe, expect, test, vi } from 'vitest'
import { ErrorCode } from '../../src/index.ts'
import { createServer, rateLimit, text, serverExtension } from '../../src/presets/server.ts'
import { tasks } from '../../src/tasks/index.ts'
import { until } from '../client/peers.ts'
import { openWire } from '../server/wire.ts'
import { KNOWS, makeFixture, textOf, wireTo } from './fixture.ts'

const TASKS = 'io.modelcontextprotocol/tasks'
const accept = { action: 'accept', content: { yes: true } }

describe('The tasks extension is negotiated', () => {
  test('and advertised by its id alone, on no session [M-TASK-001] [M-TASK-003] [M-TASK-066] [M-TASK-074] [M-COMPAT-017]', async () => {
    const { server } = makeFixture()
    const { capabilities } = (await wireTo(server).result('server/discover')) as {
      capabilities: { extensions: object; tasks?: object }
    }
    expect(capabilities.extensions).toEqual({ [TASKS]: {} })
    expect(capabilities).not.toHaveProperty('tasks')
    const wire = await openWire(server)
    expect(wire.welcome.capabilities).not.toHaveProperty('extensions.io.modelcontextprotocol/tasks')
    await wire.close()
  })

  test('by each request: a client that declared it once gets no task without declaring it again [M-TASK-002] [M-TASK-004] [M-TASK-006]', async () => {
    const wire = wireTo(makeFixture().server)
    const declared = await wire.call('tools/call', { name: 'quick' })
    expect(declared.result?.resultType).toBe('task')
    const plain = await wire.call('tools/call', { name: 'quick' }, { elicitation: {} })
    expect(plain.result).toMatchObject({ resultType: 'complete' })
    expect(textOf(plain.result)).toBe('Hello, world!')
  })

  test.each([
    ['nothing', {}],
    ['what 2025-11-25 has for it', { tasks: { requests: { tools: { call: {} } } } }],
  ])(
    'by a client that declares %s, which gets -32021 for a tool that must be a task [M-TASK-005] [M-TASK-054] [M-TASK-067]',
    async (_what, capabilities) => {
      const wire = wireTo(makeFixture().server)
      const taskId = await wire.start('wait')
      for (const [method, params] of [
        ['tools/call', { name: 'wait' }],
        ['tasks/get', { taskId }],
        ['tasks/update', { taskId, inputResponses: {} }],
        ['tasks/cancel', { taskId }],
      ] as const) {
        const { error } = await wire.call(method, params, capabilities)
        expect(error?.code).toBe(ErrorCode.MISSING_REQUIRED_CLIENT_CAPABILITY)
        expect(error?.data).toEqual({ requiredCapabilities: { extensions: { [TASKS]: {} } } })
      }
      expect((await wire.result('tasks/get', { taskId })).status).toBe('working')
    },
  )

  test('for listening to tasks too, which is -32021 without a declaration [M-TASK-055]', async () => {
    const wire = wireTo(makeFixture().server)
    const listening = { notifications: { taskIds: ['x'] } }
    const { error } = await wire.call('subscriptions/listen', listening, {})
    expect(error?.code).toBe(ErrorCode.MISSING_REQUIRED_CLIENT_CAPABILITY)
  })

  test('without features removed since 2025-11-25, and the task param is ignored [M-TASK-063] [M-TASK-064] [M-TASK-065] [M-TOOL-051]', async () => {
    const wire = wireTo(makeFixture({ list: true }).server)
    const taskId = await wire.start('wait')
    expect((await wire.call('tasks/result', { taskId })).error?.code).toBe(
      ErrorCode.METHOD_NOT_FOUND,
    )
    expect((await wire.call('tasks/list', {})).error?.code).toBe(ErrorCode.METHOD_NOT_FOUND)
    const plain = { name: 'plain', task: { ttl: 1000 } }
    expect(await wire.result('tools/call', plain)).toMatchObject({ resultType: 'complete' })
  })
})

describe('A task', () => {
  test('is returned as a flat result once it is durable, with timestamps that clients can read [M-TASK-011] [M-TASK-013] [M-TASK-014] [M-TASK-015] [M-TASK-016] [M-TASK-017] [M-TASK-068]', async () => {
    const { server, gate } = makeFixture()
    const wire = wireTo(server)
    const created = await wire.result('tools/call', { name: 'wait' })
    const { taskId, createdAt, lastUpdatedAt, _meta, ...others } = created
    expect(others).toEqual({
      resultType: 'task',
      status: 'working',
      ttlMs: 3_600_000,
      pollIntervalMs: 20,
    })
    const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
    expect(createdAt).toMatch(iso)
    expect(lastUpdatedAt).toMatch(iso)
    expect(JSON.stringify(_meta)).not.toContain('related-task')
    const seen = await wire.result('tasks/get', { taskId })
    expect(seen).toMatchObject({ taskId, createdAt, resultType: 'complete' })
    gate.open()
    const done = await wire.until(String(taskId), 'completed')
    expect(Date.parse(String(done.lastUpdatedAt))).toBeGreaterThan(
      Date.parse(String(lastUpdatedAt)),
    )
  })

  test('is not affected by clients that poll too often [M-TASK-033]', async () => {
    const { server, gate, ran } = makeFixture()
    server.use('tasks/get', rateLimit({ requests: 3, perMs: 60_000 }))
    const wire = wireTo(server)
    const taskId = await wire.start('wait')
    const looks = await Promise.all(
      Array.from({ length: 10 }, () => wire.call('tasks/get', { taskId })),
    )
    expect(looks.filter(({ error }) => error)).toHaveLength(7)
    gate.open()
    await until(() => ran.includes('waited'))
    const later = performance.now() + 60_000
    vi.spyOn(performance, 'now').mockImplementation(() => later)
    try {
      expect((await wire.until(taskId, 'completed')).status).toBe('completed')
    } finally {
      vi.restoreAllMocks()
    }
  })

  test('has method names and a result type that no other extension may use [M-TASK-071]', () => {
    const server = createServer({ name: 'x', version: '1' })
    const handle = () => ({})
    for (const taken of [
      { id: 'com.example/x', methods: { 'tasks/pause': { handle } } },
      { id: 'com.example/y', resultTypes: ['task'] },
    ]) {
      expect(() => server.extend(serverExtension(taken))).toThrow('reserved')
    }
  })

  test('can be read as soon as its id is returned [M-TASK-017]', async () => {
    const wire = wireTo(makeFixture().server)
    for (let n = 0; n < 200; n++) {
      const taskId = await wire.start('quick')
      expect((await wire.result('tasks/get', { taskId })).taskId).toBe(taskId)
    }
  })

  test('reports a status message while it works [M-TASK-019] [M-TASK-024]', async () => {
    const { server, gate } = makeFixture()
    const wire = wireTo(server)
    const taskId = await wire.start('wait')
    await expect
      .poll(() => wire.result('tasks/get', { taskId }))
      .toMatchObject({ status: 'working', statusMessage: 'Half way', resultType: 'complete' })
    gate.open()
    const done = await wire.until(taskId, 'completed')
    expect(done.statusMessage).toBeUndefined()
  })

  test('completes with the result of the tool, including tool errors [M-TASK-021] [M-TASK-025] [M-TASK-026] [M-TASK-012]', async () => {
    const wire = wireTo(makeFixture().server)
    const done = await wire.until(await wire.start('quick', { who: 'Ada' }), 'completed')
    expect(done).toMatchObject({ resultType: 'complete', result: { resultType: 'complete' } })
    expect(textOf(done.result)).toBe('Hello, Ada!')
    const failed = await wire.until(await wire.start('fail'), 'completed', 'failed')
    expect(failed).toMatchObject({ status: 'completed', result: { isError: true } })
    expect(textOf(failed.result)).toBe('Out of stock')
  })

  test('fails with the error that the request would have been answered with, and says why [M-TASK-022] [M-TASK-027]', async () => {
    const wire = wireTo(makeFixture().server)
    const failed = await wire.until(await wire.start('crash'), 'failed')
    expect(failed).toMatchObject({
      statusMessage: 'The job crashed',
      error: { code: -32603, message: 'The job crashed', data: { why: 'disk' } },
    })
    expect(failed).not.toHaveProperty('result')
  })

  test('fails when the structured content does not fit the schema [M-TASK-077]', async () => {
    const wire = wireTo(makeFixture().server)
    const failed = await wire.until(await wire.start('checked'), 'failed')
    expect(failed.error).toMatchObject({ code: -32603 })
  })

  test('is not made of a call with bad arguments', async () => {
    const { server, ran } = makeFixture()
    const refused = await wireTo(server).result('tools/call', {
      name: 'quick',
      arguments: { who: 7 },
    })
    expect(refused).toMatchObject({ resultType: 'complete', isError: true })
    expect(ran).toEqual([])
  })

  test('has an unguessable id of 192 bits [M-TASK-069]', async () => {
    const wire = wireTo(makeFixture().server)
    const ids = new Set<string>()
    for (let n = 0; n < 200; n++) ids.add(await wire.start('quick'))
    expect(ids.size).toBe(200)
    for (const id of ids) expect(id).toMatch(/^[\w-]{32}$/)
  })

  test('may come without the Mcp-Name header, but not with the name of another [M-TASK-061] [I006]', async () => {
    const wire = wireTo(makeFixture().server)
    const taskId = await wire.start('wait')
    const other = await wire.start('wait')
    const { createHandler } = await import('../../src/presets/server.ts')
    const { post, modernHeaders, modernRequest } =
      await import('../transport/streamable-http/post.ts')
    const handle = createHandler(makeFixture().server)
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      const params = { taskId, inputResponses: {} }
      const request = modernRequest(method, params, KNOWS)
      const response = await post(handle, request, modernHeaders(method))
      // Answered by this server, which does not know the task
      expect(await response.json()).toMatchObject({ error: { code: ErrorCode.INVALID_PARAMS } })
    }
    for (const name of [other, '', '=?base64?!!?=']) {
      for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
        const params = { taskId, inputResponses: {} }
        const request = modernRequest(method, params, KNOWS)
        const response = await post(handle, request, modernHeaders(method, name))
        expect(response.status).toBe(400)
        expect(await response.json()).toMatchObject({ error: { code: -32020 } })
      }
    }
  })

  test('that is unknown is -32602 for every method [M-TASK-052] [M-TASK-053]', async () => {
    const wire = wireTo(makeFixture().server)
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      const { error } = await wire.call(method, { taskId: 'unknown', inputResponses: {} })
      expect(error?.code).toBe(ErrorCode.INVALID_PARAMS)
    }
  })

  test('of another principal is as unknown as one that never existed [M-TASK-070] [M-ASEC-055]', async () => {
    const { server, ran } = makeFixture()
    const mine = wireTo(server).as('ada')
    const taskId = await mine.start('ask')
    await mine.until(taskId, 'input_required')
    for (const wire of [wireTo(server).as('eve'), wireTo(server)]) {
      for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
        const params = { taskId, inputResponses: { sure: accept } }
        const foreign = await wire.call(method, params)
        const unknown = await wire.call(method, { ...params, taskId: 'never' })
        expect(foreign.error).toEqual(unknown.error)
        expect(foreign.error?.code).toBe(ErrorCode.INVALID_PARAMS)
      }
    }
    expect((await mine.result('tasks/get', { taskId })).status).toBe('input_required')
    expect(ran).not.toContain('pay')
  })

  test('sends no progress or log notifications [M-TASK-059] [M-PROG-008]', async () => {
    const { server, gate } = makeFixture()
    const wire = await openModern(server)
    wire.call('tools/call', { name: 'wait', _meta: { progressToken: 'p' } })
    gate.open()
    await wire.done(1)
    expect(wire.methods()).toEqual([])
  })

  test('cannot be made of anything but a call of a tool [M-TASK-009]', async () => {
    const server = createServer({ name: 'x', version: '1' }, { onError: () => {} })
    server.extend(tasks())
    server.prompt('p', {}, (() => ({ resultType: 'task', taskId: '1' })) as never)
    const { error, result } = await wireTo(server).call('prompts/get', { name: 'p' })
    expect(result?.resultType).not.toBe('task')
    expect(error?.code ?? -32603).toBe(-32603)
  })
})

/** Listens to what a server sends on its own, over a connection. */
async function openModern(server: ReturnType<typeof makeFixture>['server']) {
  const { inMemoryTransports } = await import('../../src/transport/in-memory.ts')
  const { serveTransport } = await import('../../src/presets/server.ts')
  const { modernRequest } = await import('../transport/streamable-http/post.ts')
  const [near, far] = inMemoryTransports()
  void serveTransport(server, far)
  const received: Record<string, unknown>[] = []
  await near.start({
    message: (frame) => void received.push(frame as never),
    malformed() {},
    closed() {},
  })
  let lastId = 0
  return {
    received,
    call: (method: string, params: Record<string, unknown>) => {
      const message = { ...modernRequest(method, params, KNOWS), id: ++lastId }
      void near.send(message)
      return lastId
    },
    done: (id: number) => until(() => received.some((one) => one.id === id)),
    methods: () => received.flatMap((one) => (one.method ? [one.method] : [])),
    close: () => near.close(),
  }
}

describe('Questions of a task', () => {
  test('make it input_required, and answers continue it without repeating completed steps [M-TASK-020] [M-TASK-042]', async () => {
    const { server, ran } = makeFixture()
    const wire = wireTo(server)
    const taskId = await wire.start('ask')
    const { inputRequests } = await wire.until(taskId, 'input_required')
    expect(inputRequests).toMatchObject({
      sure: { method: 'elicitation/create', params: { mode: 'form', message: 'Pay 42?' } },
    })
    const ack = await wire.result('tasks/update', { taskId, inputResponses: { sure: accept } })
    const { _meta, ...rest } = ack
    expect(rest).toEqual({ resultType: 'complete' })
    const done = await wire.until(taskId, 'completed')
    expect(textOf(done.result)).toBe('accept true r1')
    expect(done).not.toHaveProperty('inputRequests')
    expect(ran).toEqual(['ask', 'price', 'ask', 'pay'])
  })

  test('can be answered one by one; only those that wait are shown [M-TASK-020] [M-TASK-044]', async () => {
    const wire = wireTo(makeFixture().server)
    const taskId = await wire.start('ask-two')
    const first = await wire.until(taskId, 'input_required')
    expect(Object.keys(first.inputRequests as object)).toEqual(['one', 'two'])
    await wire.result('tasks/update', { taskId, inputResponses: { two: accept } })
    const second = await wire.result('tasks/get', { taskId })
    expect(second.status).toBe('input_required')
    expect(Object.keys(second.inputRequests as object)).toEqual(['one'])
    await wire.result('tasks/update', { taskId, inputResponses: { one: { action: 'decline' } } })
    expect(textOf((await wire.until(taskId, 'completed')).result)).toBe('decline accept')
  })

  test('ignore answers to unknown or answered questions, and late answers [M-TASK-043]', async () => {
    const { server, ran } = makeFixture()
    const wire = wireTo(server)
    const taskId = await wire.start('ask')
    await wire.until(taskId, 'input_required')
    const update = (inputResponses: object) =>
      wire.result('tasks/update', { taskId, inputResponses })
    for (const key of ['other', '__proto__', 'constructor', 'toString']) {
      await update(JSON.parse(`{"${key}":{"action":"accept"}}`) as object)
    }
    expect((await wire.result('tasks/get', { taskId })).status).toBe('input_required')
    await Promise.all([
      update({ sure: accept }),
      update({ sure: { action: 'decline' } }),
      update({ sure: { action: 'cancel' } }),
    ])
    const done = await wire.until(taskId, 'completed')
    expect(textOf(done.result)).toBe('accept true r1')
    await update({ sure: { action: 'decline' } })
    expect(await wire.result('tasks/get', { taskId })).toEqual(done)
    expect(ran.filter((what) => what === 'pay')).toHaveLength(1)
  })

  test.each([
    ['no object', 7],
    ['without an action', {}],
    ['with an unknown action', { action: 'maybe' }],
    ['with content that is no object', { action: 'accept', content: [] }],
  ])('refuse an answer %s, and stay [M-TASK-046]', async (_what, answer) => {
    const wire = wireTo(makeFixture().server)
    const taskId = await wire.start('ask')
    await wire.until(taskId, 'input_required')
    const { error } = await wire.call('tasks/update', { taskId, inputResponses: { sure: answer } })
    expect(error?.code).toBe(ErrorCode.INVALID_PARAMS)
    expect((await wire.call('tasks/update', { taskId })).error?.code).toBe(ErrorCode.INVALID_PARAMS)
    expect((await wire.result('tasks/get', { taskId })).status).toBe('input_required')
  })

  test('whose answer does not fit the form are asked again under another key [M-TASK-041]', async () => {
    const wire = wireTo(makeFixture().server)
    const taskId = await wire.start('ask')
    await wire.until(taskId, 'input_required')
    const keys = new Set(['sure'])
    for (let turn = 0; turn < 3; turn++) {
      const key = [...keys].at(-1) as string
      const bad = { action: 'accept', content: { yes: 'perhaps' } }
      await wire.result('tasks/update', { taskId, inputResponses: { [key]: bad } })
      const { inputRequests } = await wire.until(taskId, 'input_required')
      const [next = ''] = Object.keys(inputRequests as object)
      expect(keys.has(next)).toBe(false)
      keys.add(next)
    }
    const last = [...keys].at(-1) as string
    await wire.result('tasks/update', { taskId, inputResponses: { [last]: accept } })
    expect(textOf((await wire.until(taskId, 'completed')).result)).toBe('accept true r1')
  })

  test('that the client does not declare to answer are not asked [M-TASK-045]', async () => {
    const wire = wireTo(makeFixture().server)
    const { elicitation: _, ...others } = KNOWS
    const { result } = await wire.call('tools/call', { name: 'ask' }, others)
    const failed = await wire.until(String(result?.taskId), 'failed')
    expect(failed.error).toMatchObject({ code: ErrorCode.MISSING_REQUIRED_CLIENT_CAPABILITY })
  })

  test('that come before the task are asked by the call itself [M-TASK-018]', async () => {
    const { server, tasks: kept } = makeFixture()
    void kept
    const { z } = await import('zod')
    const who = { key: 'who', message: 'Who?', schema: z.object({ name: z.string() }) }
    let asked = 0
    server.tool(
      'before',
      {
        task: {
          support: 'required',
          async before(_args, ctx) {
            await ctx.step('count', () => ++asked)
            await ctx.elicit(who)
          },
        },
      },
      async (_args, ctx) => {
        const count = await ctx.step('count', () => ++asked)
        return text(`${(await ctx.elicit(who)).content?.name} ${count}`)
      },
    )
    const wire = wireTo(server)
    const first = await wire.result('tools/call', { name: 'before' })
    expect(first.resultType).toBe('input_required')
    expect(first).not.toHaveProperty('taskId')
    const second = await wire.result('tools/call', {
      name: 'before',
      inputResponses: { who: { action: 'accept', content: { name: 'Ada' } } },
      requestState: first.requestState,
    })
    expect(second.resultType).toBe('task')
    expect(second).not.toHaveProperty('requestState')
    const done = await wire.until(String(second.taskId), 'completed')
    expect(textOf(done.result)).toBe('Ada 1')
    expect(asked).toBe(1)
  })
})

describe('Cancelling a task', () => {
  test('is acknowledged without saying more, and stops the work [M-TASK-048] [M-TASK-023]', async () => {
    const { server, ran } = makeFixture()
    const wire = wireTo(server)
    const taskId = await wire.start('for-ever')
    await until(() => ran.includes('for-ever'))
    const { _meta, ...ack } = await wire.result('tasks/cancel', { taskId })
    expect(ack).toEqual({ resultType: 'complete' })
    const cancelled = await wire.until(taskId, 'cancelled')
    expect(cancelled).not.toHaveProperty('result')
    expect(ran).toEqual(['for-ever', 'aborted'])
  })

  test('changes nothing about one at its end [M-TASK-049] [M-TASK-028]', async () => {
    const wire = wireTo(makeFixture().server)
    for (const [name, status] of [
      ['quick', 'completed'],
      ['crash', 'failed'],
      ['for-ever', 'cancelled'],
    ] as const) {
      const taskId = await wire.start(name)
      if (status === 'cancelled') await wire.result('tasks/cancel', { taskId })
      const before = await wire.until(taskId, status)
      await wire.result('tasks/cancel', { taskId })
      expect(await wire.result('tasks/get', { taskId })).toEqual(before)
    }
  })

  test('takes precedence over a later result', async () => {
    const { server, gate, ran } = makeFixture()
    const wire = wireTo(server)
    const taskId = await wire.start('wait')
    await until(() => ran.includes('wait'))
    await wire.result('tasks/cancel', { taskId })
    const cancelled = await wire.result('tasks/get', { taskId })
    gate.open()
    await until(() => ran.includes('waited'))
    expect(await wire.result('tasks/get', { taskId })).toEqual(cancelled)
  })
})

describe('The time of a task', () => {
  test('is applied: it exists for its ttl, and is then unknown [M-TASK-035] [M-TASK-036]', async () => {
    const { server } = makeFixture({ ttlMs: 150 })
    const wire = wireTo(server)
    const created = await wire.result('tools/call', { name: 'quick' })
    const { taskId, createdAt } = created
    expect(created.ttlMs).toBe(150)
    const over = Date.parse(String(createdAt)) + 150
    for (;;) {
      const { error } = await wire.call('tasks/get', { taskId })
      if (error) {
        expect(error.code).toBe(ErrorCode.INVALID_PARAMS)
        expect(Date.now()).toBeGreaterThanOrEqual(over)
        return
      }
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  })

  test('ends work that never ends', async () => {
    const { server, ran } = makeFixture({ ttlMs: 50 })
    const wire = wireTo(server)
    const taskId = await wire.start('for-ever')
    await until(() => ran.includes('aborted'))
    await expect
      .poll(async () => (await wire.call('tasks/get', { taskId })).error?.code)
      .toBe(ErrorCode.INVALID_PARAMS)
  })
})

describe('Outcomes from elsewhere', () => {
  test('complete a task whose handler handed it over', async () => {
    const { server, tasks: kept, ran } = makeFixture()
    const wire = wireTo(server)
    const taskId = await wire.start('job')
    await until(() => ran.length > 0)
    expect(ran).toEqual([`enqueued ${taskId}`])
    expect(await kept.setStatusMessage(taskId, 'In the queue')).toBe(true)
    expect(await wire.result('tasks/get', { taskId })).toMatchObject({
      status: 'working',
      statusMessage: 'In the queue',
    })
    expect(await kept.complete(taskId, text('Rendered'))).toBe(true)
    expect(textOf((await wire.result('tasks/get', { taskId })).result)).toBe('Rendered')
    expect(await kept.complete(taskId, text('Again'))).toBe(false)
    expect(await kept.fail('unknown', new Error('x'))).toBe(false)
  })

  test('may be errors, whose detail stays where it is', async () => {
    const { server, tasks: kept, ran } = makeFixture()
    const wire = wireTo(server)
    const taskId = await wire.start('job')
    await until(() => ran.length > 0)
    await kept.fail(taskId, new Error('secret'))
    expect(await wire.result('tasks/get', { taskId })).toMatchObject({
      status: 'failed',
      error: { code: -32603, message: 'Internal error' },
    })
  })
})

describe('Limits', () => {
  test('reject a task too many, of one principal or of all', async () => {
    const { server } = makeFixture({ maxTasks: 3, maxTasksPerPrincipal: 2 })
    const wire = wireTo(server)
    const code = async (as: string): Promise<number | undefined> =>
      (await wire.as(as).call('tools/call', { name: 'wait' })).error?.code
    expect([await code('ada'), await code('ada'), await code('ada')]).toEqual([
      undefined,
      undefined,
      -32603,
    ])
    expect([await code('eve'), await code('eve')]).toEqual([undefined, -32603])
  })
})

describe('Notifications of tasks', () => {
  test('report every change as tasks/get does, on the requesting stream, for known tasks only [M-TASK-056] [M-TASK-057] [M-TASK-058]', async () => {
    const { server, gate } = makeFixture()
    const wire = await openModern(server)
    const first = wire.call('tools/call', { name: 'wait' })
    await wire.done(first)
    const created = wire.received.find((one) => one.id === first)?.result as { taskId: string }
    const listening = wire.call('subscriptions/listen', {
      notifications: { taskIds: [created.taskId, 'unknown'] },
    })
    await until(() => wire.methods().includes('notifications/subscriptions/acknowledged'))
    const [ack] = wire.received.filter((one) => one.method)
    expect(ack).toMatchObject({ params: { notifications: { taskIds: [created.taskId] } } })
    gate.open()
    const reported = (): Record<string, unknown>[] =>
      wire.received.flatMap((one) =>
        one.method === 'notifications/tasks' ? [one.params as Record<string, unknown>] : [],
      )
    await until(() => reported().some(({ status }) => status === 'completed'))
    const get = wire.call('tasks/get', { taskId: created.taskId })
    await wire.done(get)
    const {
      resultType: _,
      _meta,
      ...seen
    } = wire.received.find((one) => one.id === get)?.result as Record<string, unknown>
    const { _meta: meta, ...last } = reported().at(-1) ?? {}
    expect(last).toEqual(seen)
    for (const each of reported()) {
      expect(each._meta).toEqual({ 'io.modelcontextprotocol/subscriptionId': listening })
    }
    expect(meta).toBeDefined()
    await wire.close()
  })

  test.each([['x'], [[7]], [Array.from({ length: 101 }, (_, n) => `${n}`)]])(
    'of %j cannot be listened to',
    async (taskIds) => {
      const wire = wireTo(makeFixture().server)
      const { error } = await wire.call('subscriptions/listen', { notifications: { taskIds } })
      expect(error?.code).toBe(ErrorCode.INVALID_PARAMS)
    },
  )
})
