import { describe, expect, test } from 'vitest'
import { createMemoryTaskStore } from '../../src/tasks/store.ts'
import {
  ErrorCode,
  type ClientCapabilities,
  type JsonObject,
  type Revision,
} from '../../src/index.ts'
import { createHandler, statefulSessions, createServer, text } from '../../src/presets/server.ts'
import { until } from '../client/peers.ts'
import { openWire, type Message, type Wire } from '../server/wire.ts'
import { allMessages, lastMessage, openSession } from '../transport/streamable-http/post.ts'
import { makeFixture, textOf, type Fixture } from './fixture.ts'
import { PATIENCE } from '../patience.ts'

const RELATED = 'io.modelcontextprotocol/related-task'
const asks: ClientCapabilities = { elicitation: {}, sampling: {}, roots: {} }

interface CoreTask {
  taskId: string
  status: string
  statusMessage?: string
  createdAt: string
  lastUpdatedAt: string
  ttl: number
  pollInterval: number
}

function open(
  { server }: Fixture,
  principal?: string,
  capabilities: ClientCapabilities = asks,
  revision: Revision = '2025-11-25',
): Promise<Wire> {
  return openWire(
    server,
    revision,
    capabilities,
    principal === undefined ? {} : { caller: { principal } },
  )
}

async function start(wire: Wire, name: string, task: JsonObject = {}): Promise<CoreTask> {
  const created = await wire.result('tools/call', { name, task })
  return created.task as CoreTask
}

async function ends(wire: Wire, taskId: string, status: string): Promise<CoreTask> {
  for (let turn = 0; turn < PATIENCE.timeout; turn++) {
    const task = (await wire.result('tasks/get', { taskId })) as unknown as CoreTask
    if (task.status === status) return task
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  throw new Error(`The task never was ${status}`)
}

function notices(wire: Wire, method: string): Message[] {
  return wire.received.filter((one) => one.method === method)
}

describe('Tasks of 2025-11-25 are negotiated', () => {
  test('by what the server declares, with tasks/list only where the option is set [L-TASK-001] [L-TASK-047]', async () => {
    const plain = await open(makeFixture())
    expect(plain.welcome.capabilities).toMatchObject({
      tasks: { cancel: {}, requests: { tools: { call: {} } } },
    })
    expect(plain.welcome.capabilities).not.toHaveProperty('tasks.list')
    expect(await plain.code('tasks/list')).toBe(ErrorCode.METHOD_NOT_FOUND)
    const listing = await open(makeFixture({ list: true }))
    expect(listing.welcome.capabilities).toMatchObject({ tasks: { list: {} } })
  })

  test.each(['2024-11-05', '2025-03-26', '2025-06-18'] as const)(
    'in 2025-11-25 only, and do not exist in %s [L-TASK-002]',
    async (revision) => {
      const wire = await open(makeFixture({ list: true }), undefined, asks, revision)
      expect(wire.welcome.capabilities).not.toHaveProperty('tasks')
      for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel', 'tasks/list']) {
        expect(await wire.code(method, { taskId: 'x' })).toBe(ErrorCode.METHOD_NOT_FOUND)
      }
      const { content } = await wire.result('tools/call', { name: 'quick', task: {} })
      expect(content).toHaveLength(1)
      const { tools } = await wire.result('tools/list')
      expect(JSON.stringify(tools)).not.toContain('taskSupport')
    },
  )

  test('by each tool: "forbidden" rejects tasks, "required" rejects plain calls [L-TASK-006] [L-TASK-008]', async () => {
    const wire = await open(makeFixture())
    expect(await wire.code('tools/call', { name: 'plain', task: {} })).toBe(
      ErrorCode.METHOD_NOT_FOUND,
    )
    expect(await wire.code('tools/call', { name: 'wait' })).toBe(ErrorCode.METHOD_NOT_FOUND)
    const { tools } = (await wire.result('tools/list')) as { tools: JsonObject[] }
    const support = Object.fromEntries(tools.map((tool) => [tool.name, tool.execution]))
    expect(support).toMatchObject({
      plain: undefined,
      quick: { taskSupport: 'optional' },
      wait: { taskSupport: 'required' },
    })
  })

  test('by a tool that is optional, which works both ways [L-TASK-053] [L-TASK-054]', async () => {
    const wire = await open(makeFixture())
    expect(textOf(await wire.result('tools/call', { name: 'quick' }))).toBe('Hello, world!')
    const { taskId } = await start(wire, 'quick')
    expect(textOf(await wire.result('tasks/result', { taskId }))).toBe('Hello, world!')
  })

  test('by no server without tasks, which ignores the task param [L-TASK-009]', async () => {
    const server = createServer({ name: 'x', version: '1' })
    server.tool('hi', { task: 'optional' }, () => text('hi'))
    const wire = await openWire(server)
    expect(textOf(await wire.result('tools/call', { name: 'hi', task: { ttl: 1 } }))).toBe('hi')
  })
})

describe('A task of 2025-11-25', () => {
  test('is returned at once without a result, works, and has its timestamps [L-TASK-011] [L-TASK-012] [L-TASK-013] [L-TASK-016] [L-TASK-017]', async () => {
    const wire = await open(makeFixture())
    const created = await wire.result('tools/call', { name: 'wait', task: { taskId: 'mine' } })
    const { task, _meta, ...others } = created as { task: CoreTask; _meta: JsonObject }
    expect(others).toEqual({})
    expect(task).toEqual({
      taskId: expect.stringMatching(/^[\w-]{32}$/) as string,
      status: 'working',
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/) as string,
      lastUpdatedAt: expect.stringMatching(/^\d{4}-.*Z$/) as string,
      ttl: 3_600_000,
      pollInterval: 20,
    })
    expect(_meta).toEqual({ [RELATED]: { taskId: task.taskId } })
    const seen = await wire.result('tasks/get', { taskId: task.taskId })
    expect(seen).toMatchObject({ taskId: task.taskId, ttl: 3_600_000 })
    expect(seen).not.toHaveProperty('_meta')
    expect(seen).not.toHaveProperty('resultType')
  })

  test('has the ttl that the client requests, up to a limit [L-TASK-018] [L-TASK-049]', async () => {
    const wire = await open(makeFixture({ maxTtlMs: 10_000 }))
    expect((await start(wire, 'wait', { ttl: 5000 })).ttl).toBe(5000)
    expect((await start(wire, 'wait', { ttl: 1e9 })).ttl).toBe(10_000)
    expect((await start(wire, 'wait', { ttl: -1 })).ttl).toBe(10_000)
    const { taskId } = await start(wire, 'wait', { ttl: 30 })
    await expect.poll(() => wire.code('tasks/get', { taskId })).toBe(ErrorCode.INVALID_PARAMS)
  })

  test('is kept for the shortest time if its client sets ttl 0 [P031]', async () => {
    const wire = await open(makeFixture({ maxTtlMs: 10_000 }))
    const { taskId, ttl } = await start(wire, 'wait', { ttl: 0 })
    expect(ttl).toBe(1)
    await expect.poll(() => wire.code('tasks/get', { taskId })).toBe(ErrorCode.INVALID_PARAMS)
  })

  test('of ten thousand has an id of its own [L-TASK-012] [L-TASK-046]', async () => {
    const fixture = makeFixture()
    const engine = fixture.engine({ store: createMemoryTaskStore() })
    const ids = new Set(Array.from({ length: 10_000 }, () => engine.createId()))
    expect(ids.size).toBe(10_000)
    for (const id of ids) expect(id).toMatch(/^[\w-]{32}$/)
  })

  test('returns by tasks/result exactly the result that the call would have had [L-TASK-021] [L-TASK-023] [L-TASK-043]', async () => {
    const wire = await open(makeFixture())
    const relation = (taskId: string): JsonObject => ({ [RELATED]: { taskId } })
    const quick = await start(wire, 'quick')
    const { _meta, ...result } = await wire.result('tasks/result', { taskId: quick.taskId })
    expect(result).toEqual({ content: [{ type: 'text', text: 'Hello, world!' }] })
    expect(_meta).toEqual(relation(quick.taskId))

    const fail = await start(wire, 'fail')
    expect(await wire.result('tasks/result', { taskId: fail.taskId })).toEqual({
      content: [{ type: 'text', text: 'Out of stock' }],
      isError: true,
      _meta: relation(fail.taskId),
    })
    expect(await ends(wire, fail.taskId, 'failed')).toBeDefined()

    const crash = await start(wire, 'crash')
    const { error } = await wire.request('tasks/result', { taskId: crash.taskId })
    expect(error).toEqual({ code: -32603, message: 'The job crashed', data: { why: 'disk' } })
    expect((await ends(wire, crash.taskId, 'failed')).statusMessage).toBe('The job crashed')
  })

  test('makes every tasks/result request wait, and answers them all [L-TASK-022]', async () => {
    const fixture = makeFixture()
    const wire = await open(fixture)
    const other = await open(fixture)
    const { taskId } = await start(wire, 'wait')
    const waiting = [wire, wire, other].map((each) => each.result('tasks/result', { taskId }))
    let settled = 0
    for (const each of waiting) void each.then(() => settled++)
    await ends(wire, taskId, 'working')
    expect(settled).toBe(0)
    fixture.gate.open()
    expect((await Promise.all(waiting)).map(textOf)).toEqual(['Waited', 'Waited', 'Waited'])
  })

  test('is found by its id, not by the _meta of the request [L-TASK-025] [L-TASK-026]', async () => {
    const wire = await open(makeFixture())
    const { taskId } = await start(wire, 'wait')
    const other = await start(wire, 'wait')
    const _meta = { [RELATED]: { taskId: other.taskId } }
    expect((await wire.result('tasks/get', { taskId, _meta })).taskId).toBe(taskId)
    const cancelled = await wire.result('tasks/cancel', { taskId, _meta })
    expect(cancelled).toMatchObject({ taskId, status: 'cancelled' })
    expect(cancelled).not.toHaveProperty('_meta')
    expect((await wire.result('tasks/get', { taskId: other.taskId })).status).toBe('working')
  })

  test('that is unknown is -32602 [L-TASK-042]', async () => {
    const wire = await open(makeFixture({ list: true }))
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
      expect(await wire.code(method, { taskId: 'unknown' })).toBe(ErrorCode.INVALID_PARAMS)
      expect(await wire.code(method, {})).toBe(ErrorCode.INVALID_PARAMS)
    }
    for (const cursor of ['x', 7, '', 'bm9ib2R5'])
      expect(await wire.code('tasks/list', { cursor })).toBe(ErrorCode.INVALID_PARAMS)
  })

  test('belongs to its principal, and is unknown to others [L-TASK-044] [L-TASK-045]', async () => {
    const fixture = makeFixture({ list: true })
    const [ada, eve] = [await open(fixture, 'ada'), await open(fixture, 'eve')]
    const { taskId } = await start(ada, 'wait')
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
      const foreign = await eve.request(method, { taskId })
      expect(foreign.error).toEqual((await eve.request(method, { taskId: 'never' })).error)
      expect(foreign.error?.code).toBe(ErrorCode.INVALID_PARAMS)
    }
    expect((await eve.result('tasks/list')).tasks).toEqual([])
    expect((await ada.result('tasks/list')).tasks).toMatchObject([{ taskId, status: 'working' }])
  })

  test('has an immediate response for the model [L-TASK-052]', async () => {
    const wire = await open(makeFixture({ immediateResponse: (tool) => `${tool} is under way` }))
    const { _meta } = await wire.result('tools/call', { name: 'wait', task: {} })
    expect(_meta).toMatchObject({
      'io.modelcontextprotocol/model-immediate-response': 'wait is under way',
    })
  })

  test('is reported to an audit log when it is created [L-TASK-050]', async () => {
    const made: unknown[] = []
    const wire = await open(makeFixture({ onCreate: (task) => made.push(task) }), 'ada')
    const { taskId } = await start(wire, 'wait')
    expect(made).toMatchObject([{ taskId, call: { principal: 'ada', params: { name: 'wait' } } }])
  })
})

describe('Questions of a task of 2025-11-25', () => {
  test('are put on the stream of tasks/result, and name the task [L-TASK-023] [L-TASK-024] [L-TASK-027] [L-TASK-028]', async () => {
    const fixture = makeFixture()
    const wire = await open(fixture)
    const { taskId } = await start(wire, 'ask')
    await ends(wire, taskId, 'input_required')
    expect(notices(wire, 'elicitation/create')).toEqual([])
    wire.onRequest(({ params }) => ({
      action: 'accept',
      content: { yes: true },
      _meta: params?._meta,
    }))
    const result = await wire.result('tasks/result', { taskId })
    expect(textOf(result)).toBe('accept true r1')
    const [asked] = notices(wire, 'elicitation/create')
    expect(asked?.params?._meta).toEqual({ [RELATED]: { taskId } })
    expect(fixture.ran).toEqual(['ask', 'price', 'ask', 'pay'])
    const statuses = notices(wire, 'notifications/tasks/status').map(({ params }) => params?.status)
    expect(statuses).toEqual(['working', 'completed'])
  })

  test('are sent once although several requests wait, and again when no client could answer', async () => {
    const fixture = makeFixture()
    const first = await open(fixture)
    const { taskId } = await start(first, 'ask')
    const waiting = [
      first.request('tasks/result', { taskId }),
      first.request('tasks/result', { taskId }),
    ]
    for (const each of waiting) each.catch(() => {})
    await until(() => notices(first, 'elicitation/create').length > 0)
    await first.close()
    const second = await open(fixture)
    second.onRequest(() => ({ action: 'decline' }))
    expect(textOf(await second.result('tasks/result', { taskId }))).toBe('decline  r1')
    expect(notices(first, 'elicitation/create')).toHaveLength(1)
    expect(notices(second, 'elicitation/create')).toHaveLength(1)
  })

  test('may be refused by an error, which the handler gets', async () => {
    const fixture = makeFixture()
    fixture.server.tool('sample', { task: 'required' }, async (_args, ctx) => {
      try {
        await ctx.sample({ messages: [], maxTokens: 1 })
        return text('sampled')
      } catch (error) {
        if ((error as Error).name === 'InputPending') throw error
        return text(`refused: ${(error as Error).message}`)
      }
    })
    const wire = await open(fixture)
    const { taskId } = await start(wire, 'sample')
    const result = wire.result('tasks/result', { taskId })
    await until(() => notices(wire, 'sampling/createMessage').length > 0)
    const [asked] = notices(wire, 'sampling/createMessage')
    wire.send({ jsonrpc: '2.0', id: asked?.id, error: { code: -1, message: 'User rejected' } })
    expect(textOf(await result)).toBe('refused: User rejected')
  })
})

describe('Progress of a task of 2025-11-25', () => {
  test('keeps the token of the call, names the task, and stops with it [L-PROG-011] [L-PROG-012] [L-TASK-023]', async () => {
    const fixture = makeFixture()
    const { server, gate } = fixture
    let late!: () => Promise<void>
    server.tool('progress', { task: 'required' }, async (_args, ctx) => {
      await gate.opened
      await ctx.progress(1, { total: 2 })
      await ctx.log('warning', 'Half way')
      late = () => ctx.progress(2)
      return text('done')
    })
    const wire = await open(fixture)
    const call = { name: 'progress', task: {}, _meta: { progressToken: 'tok' } }
    const { task } = (await wire.result('tools/call', call)) as unknown as { task: CoreTask }
    const { taskId } = task
    const result = wire.result('tasks/result', { taskId })
    await wire.result('tasks/get', { taskId })
    gate.open()
    await result
    await late()
    await wire.result('tasks/get', { taskId })
    expect(notices(wire, 'notifications/progress').map(({ params }) => params)).toEqual([
      { progressToken: 'tok', progress: 1, total: 2, _meta: { [RELATED]: { taskId } } },
    ])
    expect(notices(wire, 'notifications/message').map(({ params }) => params?._meta)).toEqual([
      { [RELATED]: { taskId } },
    ])
  })
})

describe('Log messages of a task of 2025-11-25', () => {
  test('are scrubbed, bounded, and of the level that the client wants', async () => {
    const fixture = makeFixture(
      {},
      {
        redact: (name, value) => (name === 'password' ? 'hidden' : value),
        maxLogsPerSecond: 3,
      },
    )
    const { server, gate } = fixture
    server.tool('log', { task: 'required' }, async (_args, ctx) => {
      await gate.opened
      await ctx.log('info', 'Of no concern')
      for (const n of [1, 2, 3]) await ctx.log('warning', { n, password: 'hunter2' })
      return text('done')
    })
    const wire = await open(fixture)
    await wire.result('logging/setLevel', { level: 'warning' })
    const { taskId } = await start(wire, 'log')
    const result = wire.result('tasks/result', { taskId })
    await wire.result('tasks/get', { taskId })
    gate.open()
    await result
    expect(notices(wire, 'notifications/message').map(({ params }) => params?.data)).toEqual([
      { n: 1, password: 'hidden' },
      { n: 2, password: 'hidden' },
    ])
  })
})

describe('Cancelling a task of 2025-11-25', () => {
  test('is stored before it is acknowledged, and is final [L-TASK-039] [L-TASK-040] [L-TASK-015]', async () => {
    const fixture = makeFixture()
    const wire = await open(fixture)
    const { taskId } = await start(wire, 'wait')
    const waiting = wire.request('tasks/result', { taskId })
    await until(() => fixture.ran.includes('wait'))
    expect((await wire.result('tasks/cancel', { taskId })).status).toBe('cancelled')
    const seen = await wire.result('tasks/get', { taskId })
    fixture.gate.open()
    await until(() => fixture.ran.includes('waited'))
    expect(await wire.result('tasks/get', { taskId })).toEqual(seen)
    expect((await waiting).error?.message).toContain('cancelled')
  })

  test.each([
    ['quick', 'completed'],
    ['crash', 'failed'],
    ['for-ever', 'cancelled'],
  ])('is -32602 where %s is already terminal [L-TASK-038]', async (name, status) => {
    const wire = await open(makeFixture())
    const { taskId } = await start(wire, name)
    if (status === 'cancelled') await wire.result('tasks/cancel', { taskId })
    await ends(wire, taskId, status)
    expect(await wire.code('tasks/cancel', { taskId })).toBe(ErrorCode.INVALID_PARAMS)
  })

  test('is not what notifications/cancelled does once the task has been created [L-CANC-003]', async () => {
    const fixture = makeFixture()
    const wire = await open(fixture)
    const created = await wire.request('tools/call', { name: 'wait', task: {} }, 55)
    const { taskId } = created.result?.task as CoreTask
    wire.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 55 } })
    fixture.gate.open()
    expect(textOf(await wire.result('tasks/result', { taskId }))).toBe('Waited')
  })
})

describe('The list of tasks', () => {
  test('comes in pages with opaque cursors, and has every task that can be got [L-TASK-034] [L-TASK-035] [L-TASK-036] [L-TASK-037]', async () => {
    const wire = await open(makeFixture({ list: true }), 'ada')
    const ids: string[] = []
    for (let n = 0; n < 120; n++) ids.push((await start(wire, 'quick')).taskId)
    const listed: string[] = []
    const sizes: number[] = []
    let cursor: unknown
    do {
      const page = await wire.result('tasks/list', cursor === undefined ? {} : { cursor })
      const found = page.tasks as CoreTask[]
      listed.push(...found.map(({ taskId }) => taskId))
      sizes.push(found.length)
      cursor = page.nextCursor
    } while (cursor !== undefined)
    expect(sizes).toEqual([50, 50, 20])
    expect(listed).toEqual(ids)
  })
})

describe('Tasks over HTTP', () => {
  test('answer tasks/get by JSON, and survive unread streams [L-TASK-030] [L-TASK-031] [L-TASK-056]', async () => {
    const fixture = makeFixture()
    const handle = createHandler(fixture.server, { sessions: statefulSessions() })
    const { send } = await openSession(handle, '2025-11-25', asks)
    const request = (id: number, method: string, params: JsonObject): JsonObject => ({
      jsonrpc: '2.0',
      id,
      method,
      params,
    })
    const created = await lastMessage(
      await send(request(1, 'tools/call', { name: 'wait', task: {} })),
    )
    const { taskId } = created.result.task as CoreTask
    const get = await send(request(2, 'tasks/get', { taskId }))
    expect(get.headers.get('content-type')).toBe('application/json')
    const dropped = send(request(3, 'tasks/result', { taskId }))
    void dropped.then((response) => response.body?.cancel())
    fixture.gate.open()
    const result = await allMessages(await send(request(4, 'tasks/result', { taskId })))
    expect(textOf((result.at(-1) as unknown as { result: unknown }).result)).toBe('Waited')
  })
})
