import { describe, expect, test, vi } from 'vitest'
import type { Client, ConnectOptions } from '../../src/presets/client.ts'
import { ErrorCode, ProtocolError, type JsonObject } from '../../src/index.ts'
import { createServer, text, type Server } from '../../src/presets/server.ts'
import {
  callTask,
  taskPolling,
  CLIENT_TASK_CAPABILITIES,
  sampleAsTask,
  createTask,
  getRemoteTask,
} from '../../src/tasks/index.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import {
  connectTo,
  duplexPeer,
  initialized,
  refuse,
  reply,
  until,
  type DuplexPeer,
} from '../client/peers.ts'
import { openWire } from '../server/wire.ts'
import { makeFixture, textOf } from './fixture.ts'
import { settled } from '../settled.ts'

const RELATED = 'io.modelcontextprotocol/related-task'

function legacy(server: Server, options: ConnectOptions = {}): Promise<Client> {
  return connectInMemory(server, {
    revision: '2025-11-25',
    extensions: [taskPolling()],
    onElicit: () => ({ action: 'accept', content: { yes: true } }),
    ...options,
  })
}

/** A server of 2025-11-25 that answers requests by a script. */
function peer(
  answers: { [method: string]: (message: JsonObject, turn: number) => JsonObject | undefined },
  tasks: unknown = { requests: { tools: { call: {} } } },
) {
  const turns = new Map<string, number>()
  return duplexPeer((message) => {
    const { method = '' } = message
    if (method === 'server/discover') return refuse(message, ErrorCode.METHOD_NOT_FOUND)
    if (method === 'initialize') {
      return reply(message, initialized('2025-11-25', { tools: {}, tasks }))
    }
    const turn = turns.get(method) ?? 0
    turns.set(method, turn + 1)
    return answers[method]?.(message, turn)
  })
}

const tool = (name: string, taskSupport?: string): JsonObject => ({
  name,
  inputSchema: { type: 'object' },
  ...(taskSupport !== undefined && { execution: { taskSupport } }),
})
const tools = [
  tool('plain'),
  tool('never', 'forbidden'),
  tool('may', 'optional'),
  tool('must', 'required'),
]
const state = (status: string, more: JsonObject = {}): JsonObject => ({
  taskId: 't',
  status,
  createdAt: new Date().toISOString(),
  lastUpdatedAt: new Date().toISOString(),
  ttl: 60_000,
  pollInterval: 1,
  ...more,
})

describe('A client of 2025-11-25', () => {
  test('calls a tool as a task where it must or may, and follows it [L-TASK-007] [L-TASK-020] [L-TASK-028] [L-TASK-033] [L-TASK-051]', async () => {
    const fixture = makeFixture()
    fixture.gate.open()
    const client = await legacy(fixture.server)
    expect(textOf(await callTask(client, 'wait'))).toBe('Waited')
    expect(textOf(await callTask(client, 'quick', { who: 'Ada' }))).toBe('Hello, Ada!')
    expect(textOf(await callTask(client, 'plain'))).toBe('Hello, world!')
    expect(textOf(await callTask(client, 'ask'))).toBe('accept true r1')
    expect(await callTask(client, 'fail')).toMatchObject({ isError: true })
    await expect(callTask(client, 'crash')).rejects.toMatchObject({
      code: -32603,
      message: 'The job crashed',
      data: { why: 'disk' },
    })
    await client.close()
  })

  test('follows by callTool what becomes a task, as in 2026-07-28 [L-TASK-007] [L-TASK-028] [L-TASK-053]', async () => {
    const fixture = makeFixture()
    fixture.gate.open()
    for (const revision of ['2025-11-25', '2026-07-28'] as const) {
      const seen: string[] = []
      const client = await legacy(fixture.server, {
        revision,
        extensions: [taskPolling({ onTask: ({ status }) => seen.push(status) })],
      })
      expect(textOf(await client.callTool('wait'))).toBe('Waited')
      expect(seen.at(-1)).toBe('completed')
      expect(textOf(await client.callTool('quick', { who: 'Ada' }))).toBe('Hello, Ada!')
      expect(textOf(await client.callTool('plain'))).toBe('Hello, world!')
      expect(textOf(await client.callTool('ask'))).toBe('accept true r1')
      expect(await client.callTool('fail')).toMatchObject({ isError: true })
      await expect(client.callTool('crash')).rejects.toMatchObject({ code: -32603 })
      await client.close()
    }
  })

  test('checks the structured output of a task as that of any call', async () => {
    const server = peer({
      'tools/list': (message) =>
        reply(message, { tools: [{ ...tool('must', 'required'), outputSchema: {} }] }),
      'tools/call': (message) => reply(message, { task: state('completed') }),
      'tasks/get': (message) => reply(message, state('completed')),
      'tasks/result': (message) => reply(message, { content: [], structuredContent: { a: 1 } }),
    })
    const client = await connectTo(server, {
      extensions: [taskPolling()],
      validateOutput: () => 'It is wrong',
    })
    await expect(client.callTool('must')).rejects.toMatchObject({ code: 'INVALID_MESSAGE' })
    await client.close()
  })

  test('lists the tools once for calls at the same time, and leaves alone what it does not follow', async () => {
    const server = peer({
      'tools/list': (message) => reply(message, { tools }),
      'tools/call': (message) => reply(message, { content: [] }),
    })
    const client = await connectTo(server, { extensions: [taskPolling()] })
    const names = ['plain', 'may', 'must', 'unlisted']
    await Promise.all(names.map((name) => client.callTool(name)))
    expect(server.received('tools/list').length).toBeLessThanOrEqual(2)
    await client.callTool('unlisted')
    await client.callTool('must', {}, { input: 'manual' })
    await client.callTool('must', {}, { params: { task: { ttl: 1 } } })
    expect(server.received('tools/list').length).toBeLessThanOrEqual(3)
    const sent = server.received('tools/call').map(({ params }) => params as JsonObject)
    const byName = (one: JsonObject, other: JsonObject) =>
      String(one.name) < String(other.name) ? -1 : 1
    expect([...sent.slice(0, 4).sort(byName), ...sent.slice(4)]).toEqual([
      { name: 'may', task: {} },
      { name: 'must', task: {} },
      { name: 'plain' },
      { name: 'unlisted' },
      { name: 'unlisted' },
      { name: 'must', arguments: {} },
      { name: 'must', arguments: {}, task: { ttl: 1 } },
    ])
    await client.close()
  })

  test.each([
    ['can be a task by now', undefined, 'required', [undefined, {}]],
    ['can no longer be a task', 'optional', undefined, [{}, undefined]],
    ['no longer exists', 'optional', 'optional', [{}]],
  ])('calls a tool again that %s [L-TASK-005] [L-TASK-007]', async (_, before, now, tasks) => {
    const server = peer({
      'tools/list': (message, turn) =>
        reply(message, { tools: [tool('t', turn === 0 ? before : now)] }),
      'tools/call': (message, turn) =>
        turn === 0 ? refuse(message, ErrorCode.METHOD_NOT_FOUND) : reply(message, { content: [] }),
    })
    const client = await connectTo(server, { extensions: [taskPolling()] })
    const called = client.callTool('t')
    if (tasks.length > 1) expect(await called).toEqual({ content: [] })
    else await expect(called).rejects.toMatchObject({ code: ErrorCode.METHOD_NOT_FOUND })
    const sent = server.received('tools/call').map(({ params }) => (params as JsonObject).task)
    expect(sent).toEqual(tasks)
    await client.close()
  })

  test('calls the tools of a server that does not list them', async () => {
    const server = peer({
      'tools/list': (message) => refuse(message, ErrorCode.METHOD_NOT_FOUND),
      'tools/call': (message) => reply(message, { content: [] }),
    })
    const client = await connectTo(server, { extensions: [taskPolling()] })
    expect(await client.callTool('any')).toEqual({ content: [] })
    expect(server.received('tools/call')[0]?.params).not.toHaveProperty('task')
    await client.close()
  })

  test('stops listing the tools for a caller that aborts, and for no other', async () => {
    const server = peer({
      'tools/list': () => undefined,
      'tools/call': (message) => reply(message, { content: [] }),
    })
    const client = await connectTo(server, { extensions: [taskPolling()] })
    const controller = new AbortController()
    const given = expect(
      client.callTool('plain', {}, { signal: controller.signal }),
    ).rejects.toMatchObject({ code: 'ABORTED' })
    const other = client.callTool('plain')
    await until(() => server.received('tools/list').length === 1)
    controller.abort()
    await given
    server.send(reply(server.received('tools/list')[0] ?? {}, { tools }))
    expect(await other).toEqual({ content: [] })
    expect(server.received('tools/list')).toHaveLength(1)
    await client.close()
  })

  test('sends the task param to tools that can be tasks, and to no other [L-TASK-003] [L-TASK-005]', async () => {
    const server = peer({
      'tools/list': (message) => reply(message, { tools }),
      'tools/call': (message) => reply(message, { content: [] }),
    })
    const client = await connectTo(server)
    for (const { name } of tools) await callTask(client, String(name))
    await callTask(client, 'unlisted')
    const sent = server.received('tools/call').map(({ params }) => params as JsonObject)
    expect(sent.map(({ name, task }) => [name, task])).toEqual([
      ['plain', undefined],
      ['never', undefined],
      ['may', {}],
      ['must', {}],
      ['unlisted', undefined],
    ])
  })

  test('sends no task param to a server without tasks, even if its tools declare support [L-TASK-004] [L-TASK-003]', async () => {
    for (const declared of [null, {}, { requests: {} }, { requests: { tools: {} } }]) {
      const server = peer(
        {
          'tools/list': (message) => reply(message, { tools }),
          'tools/call': (message) => reply(message, { content: [] }),
        },
        declared,
      )
      const client = await connectTo(server)
      await callTask(client, 'must')
      expect(server.received('tools/call')).toHaveLength(1)
      expect(server.received('tools/call')[0]?.params).not.toHaveProperty('task')
    }
  })

  test.each(['2024-11-05', '2025-03-26', '2025-06-18'] as const)(
    'has no tasks in %s [L-TASK-002]',
    async (revision) => {
      const { server } = makeFixture()
      const client = await legacy(server, { revision })
      expect(textOf(await callTask(client, 'quick'))).toBe('Hello, world!')
      await client.close()
    },
  )

  test('polls at the interval of the server, and fetches the result only at the end [L-TASK-019]', async () => {
    const at: number[] = []
    const server = peer({
      'tools/list': (message) => reply(message, { tools }),
      'tools/call': (message) => reply(message, { task: state('working') }),
      'tasks/get': (message, turn) => {
        at.push(performance.now())
        return reply(message, state(turn < 2 ? 'working' : 'completed', { pollInterval: 60 }))
      },
      'tasks/result': (message) => reply(message, { content: [{ type: 'text', text: 'done' }] }),
    })
    const client = await connectTo(server)
    expect(textOf(await callTask(client, 'must', {}, { ttlMs: 5000 }))).toBe('done')
    expect(server.received('tools/call')[0]?.params).toMatchObject({ task: { ttl: 5000 } })
    expect(server.received('tasks/get')).toHaveLength(3)
    expect(server.received('tasks/result')).toHaveLength(1)
    expect((at[1] ?? 0) - (at[0] ?? 0)).toBeGreaterThanOrEqual(58)
  })

  test('cancels the task when it is aborted, and does not mind that it is forgotten [L-TASK-041] [L-TASK-055] [L-CANC-003]', async () => {
    const server = peer({
      'tools/list': (message) => reply(message, { tools }),
      'tools/call': (message) => reply(message, { task: state('working') }),
      'tasks/get': (message) => reply(message, state('working')),
      'tasks/cancel': (message) => refuse(message, ErrorCode.INVALID_PARAMS),
    })
    const problems: Error[] = []
    const client = await connectTo(server, { onError: (error) => problems.push(error) })
    const controller = new AbortController()
    const call = callTask(client, 'must', {}, { signal: controller.signal })
    const failed = expect(call).rejects.toMatchObject({ code: 'ABORTED' })
    await until(() => server.received('tasks/get').length > 1)
    controller.abort()
    await failed
    await until(() => server.received('tasks/cancel').length === 1)
    const cancelled = server
      .received('notifications/cancelled')
      .map(({ params }) => params as JsonObject)
    const call1 = server.received('tools/call')[0]?.id
    expect(cancelled.some(({ requestId }) => requestId === call1)).toBe(false)
    expect(problems).toEqual([])
  })

  test.each([0, -5, 'soon', null])(
    'waits between two polls if the server suggests %j [L-TASK-019]',
    async (pollInterval) => {
      let looks = 0
      const server = peer({
        'tasks/get': (message) => {
          return reply(message, { ...state(++looks < 3 ? 'working' : 'completed'), pollInterval })
        },
        'tasks/result': (message) => reply(message, { content: [] }),
      })
      const client = await connectTo(server)
      const slept = vi.spyOn(globalThis, 'setTimeout')
      await getRemoteTask(client, 't').result({ pollIntervalMs: 30 })
      const delays = slept.mock.calls.map(([, delayMs = 0]) => delayMs)
      slept.mockRestore()
      expect(delays.filter((ms) => ms >= 30 && ms <= 38)).toHaveLength(2)
      await client.close()
    },
  )

  test('reports the status of the task at first and at every change', async () => {
    const at = new Date().toISOString()
    const fixed = { createdAt: at, lastUpdatedAt: at }
    const server = peer({
      'tasks/get': (message, turn) =>
        reply(
          message,
          turn < 3
            ? state('working', fixed)
            : turn < 5
              ? state('working', { ...fixed, statusMessage: 'Half way' })
              : state('completed', fixed),
        ),
      'tasks/result': (message) => reply(message, { content: [] }),
    })
    const client = await connectTo(server)
    const updates: unknown[] = []
    await getRemoteTask(client, 't').result({
      onTask: ({ status, statusMessage }) => updates.push([status, statusMessage]),
    })
    expect(updates).toEqual([
      ['working', undefined],
      ['working', 'Half way'],
      ['completed', undefined],
    ])
    await client.close()
  })

  test('rejects when the task was cancelled, by whomever, as since 2026-07-28', async () => {
    const server = peer({ 'tasks/get': (message) => reply(message, state('cancelled')) })
    const client = await connectTo(server)
    await expect(getRemoteTask(client, 't').result()).rejects.toMatchObject({
      code: 'ABORTED',
      message: 'The task "t" was cancelled',
      data: { taskId: 't' },
    })
    expect(server.received('tasks/result')).toHaveLength(0)
    await client.close()
  })

  test.each([
    ['does not mention it again', () => undefined],
    ['says that it goes on', (message: JsonObject) => reply(message, state('working'))],
  ])('gives a call up once the server need not keep its task, and %s', async (_, later) => {
    let passedMs = 0
    const now = performance.now.bind(performance)
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + passedMs)
    const server = peer({
      'tools/list': (message) => reply(message, { tools }),
      'tools/call': (message) => reply(message, { task: state('working') }),
      'tasks/get': (message, turn) => {
        if (turn === 0) return reply(message, state('working'))
        passedMs = 66_000
        return later(message)
      },
    })
    const client = await connectTo(server, { extensions: [taskPolling()], timeoutMs: 50 })
    await expect(client.callTool('must')).rejects.toMatchObject({
      code: 'TIMEOUT',
      data: { taskId: 't' },
    })
    clock.mockRestore()
    await client.close()
  })

  test('uses the whole timeout of its caller, even if the server suggests longer intervals', async () => {
    const server = peer({
      'tasks/get': (message, turn) =>
        reply(message, state(turn === 0 ? 'working' : 'completed', { pollInterval: 50_000 })),
      'tasks/result': (message) => reply(message, { content: [] }),
    })
    const client = await connectTo(server)
    expect(await getRemoteTask(client, 't').result({ maxTimeoutMs: 100 })).toEqual({ content: [] })
    expect(server.received('tasks/get')).toHaveLength(2)
    await client.close()
  })

  test('does not wait forever for the result of a task that is done', async () => {
    const server = peer({
      'tasks/get': (message) => reply(message, state('completed')),
      'tasks/result': (message, turn) => {
        return turn === 0 ? undefined : reply(message, { content: [] })
      },
    })
    const client = await connectTo(server)
    const result = await getRemoteTask(client, 't').result({ timeoutMs: 30, pollIntervalMs: 1 })
    expect(result).toEqual({ content: [] })
    await client.close()
  })

  test('rejects a tool result without content', async () => {
    const server = peer({
      'tasks/get': (message) => reply(message, state('completed')),
      'tasks/result': (message) => reply(message, { x: 1 }),
    })
    const client = await connectTo(server)
    await expect(getRemoteTask(client, 't').result()).rejects.toMatchObject({
      code: 'INVALID_MESSAGE',
    })
    await client.close()
  })

  test('continues with a task by its id in another session [L-TASK-032]', async () => {
    const fixture = makeFixture()
    const first = await legacy(fixture.server)
    const started = await createTask(first, 'wait')
    if (!('task' in started)) throw new Error('It was no task')
    await first.close()
    const second = await legacy(fixture.server)
    const task = getRemoteTask(second, started.task.id)
    expect(await task.get()).toMatchObject({ status: 'working', ttlMs: 3_600_000 })
    fixture.gate.open()
    expect(textOf(await task.result())).toBe('Waited')
    await second.close()
  })

  test('requests approval before a task as before any call', async () => {
    const client = await legacy(makeFixture().server, { approve: () => false })
    await expect(callTask(client, 'wait')).rejects.toMatchObject({ code: 'DENIED' })
    await client.close()
  })

  test('names the task in its answers, as the questions did [L-TASK-023] [L-TASK-029]', async () => {
    const _meta = { [RELATED]: { taskId: 't' } }
    const server = peer({})
    const client = await connectTo(server, {
      extensions: [taskPolling()],
      onElicit: () => ({ action: 'decline' }),
    })
    const params = { message: 'Sure?', requestedSchema: { type: 'object', properties: {} }, _meta }
    server.send({ jsonrpc: '2.0', id: 'q', method: 'elicitation/create', params })
    await until(() => server.messages.some(({ id }) => (id as unknown) === 'q'))
    const answer = server.messages.find(({ id }) => (id as unknown) === 'q')
    expect(answer?.result).toEqual({ action: 'decline', _meta })
    await client.close()
  })
})

describe('Questions of 2025-11-25 that are tasks', () => {
  const model = { role: 'assistant', model: 'm', content: { type: 'text', text: 'Hi' } } as const

  test('are answered by a client that declares it [L-TASK-001] [L-TASK-011] [L-TASK-013] [L-TASK-021] [L-TASK-022]', async () => {
    let answer!: (value: typeof model) => void
    const client = peer({})
    const connected = await connectTo(client, {
      extensions: [taskPolling()],
      capabilities: { tasks: CLIENT_TASK_CAPABILITIES },
      onSample: () => new Promise((resolve) => (answer = resolve)),
    })
    const declared = client.received('initialize')[0]?.params as JsonObject
    expect(declared.capabilities).toMatchObject({
      tasks: {
        cancel: {},
        requests: { elicitation: { create: {} }, sampling: { createMessage: {} } },
      },
    })
    let id = 0
    const ask = async (method: string, params: JsonObject): Promise<JsonObject> => {
      const own = `s${++id}`
      client.send({ jsonrpc: '2.0', id: own, method, params })
      const find = () => client.messages.find((one) => (one.id as unknown) === own && !one.method)
      await until(() => find() !== undefined)
      return find() ?? {}
    }
    const params = { messages: [], maxTokens: 1, task: { ttl: 5000 } }
    const { result } = (await ask('sampling/createMessage', params)) as { result: JsonObject }
    const { taskId, status, ttl } = result.task as { taskId: string; status: string; ttl: number }
    expect([status, ttl]).toEqual(['working', 5000])
    expect(taskId).toMatch(/^[\w-]{32}$/)
    expect((await ask('tasks/get', { taskId })).result).toMatchObject({ status: 'working' })
    const waiting = ask('tasks/result', { taskId })
    answer(model)
    expect((await waiting).result).toEqual({ ...model, _meta: { [RELATED]: { taskId } } })
    expect((await ask('tasks/get', { taskId })).result).toMatchObject({ status: 'completed' })
    expect((await ask('tasks/cancel', { taskId })).error).toMatchObject({
      code: ErrorCode.INVALID_PARAMS,
    })
    expect((await ask('tasks/get', { taskId: 'x' })).error).toMatchObject({
      code: ErrorCode.INVALID_PARAMS,
    })
    await connected.close()
  })

  /** Asks a client of ours as a server, and gives its responses. */
  function asker(client: DuplexPeer): (method: string, params: JsonObject) => Promise<JsonObject> {
    let id = 0
    return async (method, params) => {
      const own = `a${++id}`
      client.send({ jsonrpc: '2.0', id: own, method, params })
      const find = () => client.messages.find((one) => (one.id as unknown) === own && !one.method)
      await until(() => find() !== undefined)
      return find() as unknown as JsonObject
    }
  }

  const params = { messages: [], maxTokens: 1, task: {} }

  test('become tasks only where the client declares it, with what it takes of CLIENT_TASK_CAPABILITIES', async () => {
    const client = peer({})
    const connected = await connectTo(client, {
      extensions: [taskPolling()],
      capabilities: {
        tasks: { ...CLIENT_TASK_CAPABILITIES, requests: { elicitation: { create: {} } } },
      },
      onSample: () => model,
      onElicit: () => ({ action: 'decline' }),
    })
    const ask = asker(client)
    expect((await ask('sampling/createMessage', params)).result).toEqual(model)
    const form = { message: 'Name', requestedSchema: { type: 'object', properties: {} }, task: {} }
    expect((await ask('elicitation/create', form)).result).toMatchObject({
      task: { status: 'working' },
    })
    await connected.close()
  })

  test.each([
    ['nothing of tasks', {}],
    ['tasks for other questions only', { tasks: { requests: { elicitation: { create: {} } } } }],
  ])('are answered at once where the client declares %s [L-TASK-009]', async (_, capabilities) => {
    const client = peer({})
    const connected = await connectTo(client, {
      extensions: [taskPolling()],
      capabilities,
      onSample: () => model,
    })
    const { result } = await asker(client)('sampling/createMessage', params)
    expect(result).toMatchObject(model)
    await connected.close()
  })

  test('are not kept where the server sets ttl 0 [P031]', async () => {
    const client = peer({})
    const connected = await connectTo(client, {
      extensions: [taskPolling()],
      capabilities: { tasks: CLIENT_TASK_CAPABILITIES },
      onSample: () => new Promise(() => {}),
    })
    const ask = asker(client)
    const wanted = { ...params, task: { ttl: 0 } }
    const { result } = (await ask('sampling/createMessage', wanted)) as { result: JsonObject }
    const { taskId, ttl } = result.task as { taskId: string; ttl: number }
    expect(ttl).toBe(0)
    await expect
      .poll(async () => (await ask('tasks/get', { taskId })).error)
      .toMatchObject({ code: ErrorCode.INVALID_PARAMS })
    await connected.close()
  })

  test('have no result once they are cancelled, even if they are never answered [L-TASK-039] [L-TASK-040]', async () => {
    const client = peer({})
    const connected = await connectTo(client, {
      extensions: [taskPolling()],
      capabilities: { tasks: CLIENT_TASK_CAPABILITIES },
      onSample: () => new Promise(() => {}),
    })
    const ask = asker(client)
    const { result } = (await ask('sampling/createMessage', params)) as { result: JsonObject }
    const { taskId } = result.task as { taskId: string }
    const waiting = ask('tasks/result', { taskId })
    expect((await ask('tasks/cancel', { taskId })).result).toMatchObject({ status: 'cancelled' })
    expect((await waiting).error).toMatchObject({ code: -32600 })
    expect((await ask('tasks/result', { taskId })).error).toMatchObject({ code: -32600 })
    expect((await ask('tasks/get', { taskId })).result).toMatchObject({ status: 'cancelled' })
    await connected.close()
  })

  test.each([
    ['an error, whose detail stays where it is', new Error('secret'), 'Internal error'],
    ['nothing', undefined, 'Internal error'],
    ['a ProtocolError', new ProtocolError(-1, 'No'), 'No'],
  ])('fail when the handler throws %s [L-TASK-043]', async (_, thrown, statusMessage) => {
    const client = peer({})
    const connected = await connectTo(client, {
      extensions: [taskPolling()],
      capabilities: { tasks: CLIENT_TASK_CAPABILITIES },
      onError: () => {},
      onSample: () => Promise.reject(thrown),
    })
    const ask = asker(client)
    const { result } = (await ask('sampling/createMessage', params)) as { result: JsonObject }
    const { taskId } = result.task as { taskId: string }
    expect((await ask('tasks/result', { taskId })).error).toMatchObject({ message: statusMessage })
    const { result: task } = await ask('tasks/get', { taskId })
    expect(task).toMatchObject({ status: 'failed', statusMessage })
    await connected.close()
  })

  test('are known to the server alone that asked, though clients share the extension', async () => {
    const shared = [taskPolling()]
    const [one, other] = [peer({}), peer({})]
    const options = {
      extensions: shared,
      capabilities: { tasks: CLIENT_TASK_CAPABILITIES },
      onSample: () => model,
    }
    const clients = [await connectTo(one, options), await connectTo(other, options)]
    const { result } = (await asker(one)('sampling/createMessage', params)) as {
      result: JsonObject
    }
    const { taskId } = result.task as { taskId: string }
    expect((await asker(other)('tasks/get', { taskId })).error).toMatchObject({
      code: ErrorCode.INVALID_PARAMS,
    })
    for (const client of clients) await client.close()
  })

  test('are cancelled when the call is, whose handler waits for them [L-TASK-039]', async () => {
    const server = createServer({ name: 'x', version: '1' }, { onError: () => {} })
    const failures: unknown[] = []
    server.tool('sample', {}, async (_args, ctx) => {
      await sampleAsTask(ctx, { messages: [], maxTokens: 1 }).catch((e) => failures.push(e))
      return text('over')
    })
    const wire = await openWire(server, '2025-11-25', {
      sampling: {},
      tasks: CLIENT_TASK_CAPABILITIES,
    })
    const seen: unknown[] = []
    wire.onRequest(({ method }) => {
      seen.push(method)
      const known = state('working', { pollInterval: 60_000 })
      return method === 'sampling/createMessage' ? { task: known } : known
    })
    wire.send({ jsonrpc: '2.0', id: 'c', method: 'tools/call', params: { name: 'sample' } })
    await until(() => seen.length > 0)
    await settled()
    wire.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'c' } })
    await until(() => seen.length > 1)
    expect(seen).toEqual(['sampling/createMessage', 'tasks/cancel'])
    await until(() => failures.length > 0)
    await wire.close()
  })

  test('are asked by servers, and followed [L-TASK-003] [L-TASK-019]', async () => {
    const server = createServer({ name: 'x', version: '1' }, { onError: () => {} })
    server.tool('sample', {}, async (_args, ctx) => {
      const { content } = await sampleAsTask(ctx, { messages: [], maxTokens: 1 }, 5000)
      return text(JSON.stringify(content))
    })
    const seen: unknown[] = []
    for (const capabilities of [{}, { tasks: CLIENT_TASK_CAPABILITIES }]) {
      const client = await connectInMemory(server, {
        revision: '2025-11-25',
        extensions: [taskPolling()],
        capabilities,
        onSample: async (params) => {
          seen.push(params)
          await settled()
          return model
        },
      })
      expect(textOf(await client.callTool('sample'))).toBe(JSON.stringify(model.content))
      await client.close()
    }
    expect(seen).toHaveLength(2)
  })
})
