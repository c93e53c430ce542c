import { describe, expect, onTestFinished, test, vi } from 'vitest'
import * as z from 'zod'
import type { TaskPollingOptions } from '../../src/tasks/polling.ts'
import { connect, type Client, type ConnectOptions } from '../../src/presets/client.ts'
import { ErrorCode, type JsonObject } from '../../src/index.ts'
import { createHandler } from '../../src/presets/server.ts'
import { taskPolling, createTask, getRemoteTask, type DetailedTask } from '../../src/tasks/index.ts'
import {
  connectTo,
  discovered,
  error,
  httpPeer,
  result,
  until,
  type HttpPeer,
  type ScriptedRequest,
} from '../client/peers.ts'
import { makeFixture, textOf, type Fixture } from './fixture.ts'
import { settled } from '../settled.ts'

const TASKS = 'io.modelcontextprotocol/tasks'

/** A client of a fixture's server, and the requests that it made. */
async function connectToFixture(
  { server }: Fixture,
  follow: TaskPollingOptions = {},
  options: ConnectOptions = {},
): Promise<{ client: Client; sent: string[] }> {
  const handle = createHandler(server)
  const sent: string[] = []
  const client = await connect('https://peer.example/mcp', {
    versionCache: new Map(),
    extensions: [taskPolling({ notifications: false, ...follow })],
    onElicit: () => ({ action: 'accept', content: { yes: true } }),
    fetch: (url, init) => {
      const request = new Request(url, init)
      sent.push(request.headers.get('mcp-method') ?? request.method)
      return handle(request)
    },
    ...options,
  })
  return { client, sent }
}

const times = { createdAt: new Date().toISOString(), ttlMs: 60_000 }

/** A server that makes a task and then says of it what the script holds, the last for ever. */
function scripted(
  script: (JsonObject | ((request: ScriptedRequest) => Response | Promise<Response>))[],
  pollIntervalMs = 1,
  update?: (request: ScriptedRequest) => Response | Promise<Response>,
): HttpPeer {
  let at = 0
  return httpPeer((request) => {
    const { method } = request.message
    const task = (state: JsonObject): JsonObject => ({
      taskId: 't',
      ...times,
      lastUpdatedAt: new Date(Date.now() + at).toISOString(),
      ...(pollIntervalMs > 0 && { pollIntervalMs }),
      ...state,
    })
    if (method === 'server/discover') {
      return result(request, discovered({ tools: {}, prompts: {}, extensions: { [TASKS]: {} } }))
    }
    if (method === 'tools/call' || method === 'prompts/get') {
      return result(request, task({ resultType: 'task', status: 'working' }))
    }
    if (method === 'tasks/get') {
      const next = script[Math.min(at++, script.length - 1)] as (typeof script)[number]
      if (typeof next === 'function') return next(request)
      return result(request, task({ resultType: 'complete', ...next }))
    }
    if (method === 'tasks/update' && update) return update(request)
    return result(request, { resultType: 'complete' })
  })
}

const completed = {
  status: 'completed',
  result: { content: [{ type: 'text', text: 'done' }] },
}

function following(follow: TaskPollingOptions = {}, options: ConnectOptions = {}): ConnectOptions {
  return { extensions: [taskPolling({ notifications: false, ...follow })], ...options }
}

describe('callTool', () => {
  test('follows a task to its end, and takes plain results as well [M-TASK-007] [M-TASK-031] [M-TASK-073]', async () => {
    const fixture = makeFixture()
    fixture.gate.open()
    const { client } = await connectToFixture(fixture)
    expect(textOf(await client.callTool('plain'))).toBe('Hello, world!')
    expect(textOf(await client.callTool('wait'))).toBe('Waited')
    expect(await client.callTool('fail')).toMatchObject({ isError: true })
    await client.close()
  })

  test('answers the input requests of a task with the handlers of the client [M-TASK-037] [M-TASK-038]', async () => {
    const asked: string[] = []
    const fixture = makeFixture()
    const { client } = await connectToFixture(
      fixture,
      {},
      {
        onElicit: ({ message }) => {
          asked.push(message)
          return { action: 'accept', content: { yes: true } }
        },
      },
    )
    expect(textOf(await client.callTool('ask'))).toBe('accept true r1')
    expect(asked).toEqual(['Pay 42?'])
    expect(textOf(await client.callTool('ask-two'))).toBe('accept accept')
    await client.close()
  })

  test('fails with the error of the task', async () => {
    const { client } = await connectToFixture(makeFixture())
    await expect(client.callTool('crash')).rejects.toMatchObject({
      name: 'ProtocolError',
      code: -32603,
      message: 'The job crashed',
      data: { why: 'disk' },
    })
    await client.close()
  })

  test('cancels the task when it is aborted, by tasks/cancel and nothing else [M-TASK-047] [M-CANC-017]', async () => {
    const fixture = makeFixture()
    const { client, sent } = await connectToFixture(fixture)
    const controller = new AbortController()
    const call = client.callTool('for-ever', {}, { signal: controller.signal })
    const failed = expect(call).rejects.toMatchObject({ code: 'ABORTED' })
    await until(() => fixture.ran.includes('for-ever'))
    await until(() => sent.includes('tasks/get'))
    controller.abort()
    await failed
    await until(() => fixture.ran.includes('aborted'))
    expect(sent).toContain('tasks/cancel')
    expect(sent).not.toContain('notifications/cancelled')
    await client.close()
  })

  test('names the task in a header on each request about it [M-TASK-061] [M-HDR-076] [M-META-005]', async () => {
    const peer = scripted([{ status: 'working' }, completed])
    const client = await connectTo(peer, following())
    await client.callTool('x')
    for (const { headers, message } of peer.received('tasks/get')) {
      expect(headers.get('mcp-name')).toBe('t')
      expect(message.params?._meta).toHaveProperty(
        ['io.modelcontextprotocol/clientCapabilities', 'extensions', TASKS],
        {},
      )
    }
    expect(peer.received('tasks/get')).toHaveLength(2)
  })

  test('rejects a task where none is allowed [M-TASK-008] [M-BASE-013]', async () => {
    const peer = scripted([completed])
    const client = await connectTo(peer, following())
    await expect(client.getPrompt('p')).rejects.toMatchObject({ code: 'INVALID_MESSAGE' })
    const without = await connectTo(peer)
    await expect(without.callTool('x')).rejects.toMatchObject({ code: 'INVALID_MESSAGE' })
  })

  test('polls no sooner than the interval of the server, which may change [M-TASK-029]', async () => {
    const at: number[] = []
    const note =
      (interval: number, state: JsonObject = { status: 'working' }) =>
      (request: ScriptedRequest) => {
        at.push(performance.now())
        const lastUpdatedAt = new Date(Date.now() + at.length).toISOString()
        const task = { taskId: 't', ...times, lastUpdatedAt, pollIntervalMs: interval, ...state }
        return result(request, task)
      }
    const peer = scripted([note(120), note(40), note(1, completed)], 1)
    const client = await connectTo(peer, following())
    await client.callTool('x')
    // Timers may fire a little early.
    expect((at[1] ?? 0) - (at[0] ?? 0)).toBeGreaterThanOrEqual(118)
    expect((at[2] ?? 0) - (at[1] ?? 0)).toBeGreaterThanOrEqual(38)
  })

  test('polls at a default interval if the server names none [M-TASK-030]', async () => {
    const peer = scripted([{ status: 'working' }, completed], 0)
    const client = await connectTo(peer, following({ pollIntervalMs: 30 }))
    const since = performance.now()
    await client.callTool('x')
    expect(performance.now() - since).toBeGreaterThanOrEqual(58)
  })

  test('polls again after the network failed [M-TASK-075]', async () => {
    const broken = (): never => {
      throw new TypeError('socket reset')
    }
    const peer = scripted([broken, broken, { status: 'working' }, broken, completed])
    const client = await connectTo(peer, following())
    expect(textOf(await client.callTool('x'))).toBe('done')
  })

  test('continues with an unknown status [M-TASK-076]', async () => {
    const peer = scripted([{ status: 'paused' }, { status: 'paused' }, completed])
    const client = await connectTo(peer, following())
    expect(textOf(await client.callTool('x'))).toBe('done')
    expect(peer.received('tasks/get')).toHaveLength(3)
  })

  test('answers no input request twice, however often it is returned [M-TASK-039] [M-TASK-040]', async () => {
    const asking = {
      status: 'input_required',
      inputRequests: {
        a: {
          method: 'elicitation/create',
          params: {
            mode: 'form',
            message: 'A?',
            requestedSchema: { type: 'object', properties: {} },
          },
        },
      },
    }
    const peer = scripted([asking, asking, asking, asking, completed])
    let prompts = 0
    const client = await connectTo(
      peer,
      following(
        {},
        {
          onElicit: () => {
            prompts++
            return { action: 'decline' }
          },
        },
      ),
    )
    await client.callTool('x')
    expect(prompts).toBe(1)
    expect(peer.received('tasks/update').map(({ message }) => message.params)).toMatchObject([
      { taskId: 't', inputResponses: { a: { action: 'decline' } } },
    ])
    expect(peer.received('tasks/update')[0]?.headers.get('mcp-name')).toBe('t')
  })

  const params = {
    mode: 'form',
    message: 'A?',
    requestedSchema: { type: 'object', properties: {} },
  }
  const asking = {
    status: 'input_required',
    inputRequests: { a: { method: 'elicitation/create', params } },
  }
  const refuse = (request: ScriptedRequest) => error(request, ErrorCode.INVALID_PARAMS)

  test('continues when another client has answered first, and the answer is rejected', async () => {
    for (const after of [{ status: 'working' }, { ...asking, inputRequests: {} }]) {
      const peer = scripted([asking, after, after, completed], 1, refuse)
      const client = await connectTo(
        peer,
        following({}, { onElicit: () => ({ action: 'cancel' }) }),
      )
      expect(textOf(await client.callTool('x'))).toBe('done')
      expect(peer.received('tasks/cancel')).toHaveLength(0)
    }
  })

  test('does not abort an answer when the task ends before the server has received it', async () => {
    const updates: ScriptedRequest[] = []
    const ended = new EventTarget()
    const peer = scripted(
      [
        asking,
        async () => {
          await until(() => updates.length === 1)
          throw new TypeError('fetch failed')
        },
        completed,
      ],
      1,
      async (request) => {
        updates.push(request)
        await new Promise((resolve) => ended.addEventListener('end', resolve))
        return result(request, { resultType: 'complete' })
      },
    )
    const client = await connectTo(peer, following({}, { onElicit: () => ({ action: 'decline' }) }))
    expect(textOf(await client.callTool('x'))).toBe('done')
    expect(updates.map(({ signal }) => signal.aborted)).toEqual([false])
    ended.dispatchEvent(new Event('end'))
  })

  test('cancels a task that continues asking for the answer which it refuses', async () => {
    const peer = scripted([asking], 1, refuse)
    const client = await connectTo(peer, following({}, { onElicit: () => ({ action: 'cancel' }) }))
    await expect(client.callTool('x')).rejects.toMatchObject({ code: ErrorCode.INVALID_PARAMS })
    await until(() => peer.received('tasks/cancel').length === 1)
  })

  test.each(['task', 'input_required', 'x', 7])(
    'rejects a result of the type %j as that of a task [M-BASE-012]',
    async (resultType) => {
      const ended = { status: 'completed', result: { resultType, content: [], requestState: 'x' } }
      const client = await connectTo(scripted([ended]), following())
      await expect(client.callTool('x')).rejects.toMatchObject({ code: 'INVALID_MESSAGE' })
    },
  )

  test('cancels a task that requests undeclared input [M-HDR-076]', async () => {
    const peer = scripted([
      { status: 'input_required', inputRequests: { a: { method: 'roots/list' } } },
    ])
    const client = await connectTo(peer, following())
    await expect(client.callTool('x')).rejects.toMatchObject({ code: 'INVALID_MESSAGE' })
    await until(() => peer.received('tasks/cancel').length === 1)
    expect(peer.received('tasks/cancel')[0]?.headers.get('mcp-name')).toBe('t')
  })

  test.each([
    [
      'the server forgot it',
      [(request: ScriptedRequest) => error(request, ErrorCode.INVALID_PARAMS)],
      ErrorCode.INVALID_PARAMS,
    ],
    ['it was cancelled', [{ status: 'cancelled' }], 'ABORTED'],
    ['the answer is no task', [{ status: 'completed', result: 7 }], 'INVALID_MESSAGE'],
    ['it is another task', [{ status: 'working', taskId: 'other' }], 'INVALID_MESSAGE'],
    [
      'the answer is said to be a task itself',
      [{ ...completed, resultType: 'task' }],
      'INVALID_MESSAGE',
    ],
  ])('fails when %s', async (_when, script, code) => {
    const client = await connectTo(scripted(script), following())
    await expect(client.callTool('x')).rejects.toMatchObject({ code })
  })

  test('times out with the ttl of the task, or of the caller; the task may continue [M-TASK-034]', async () => {
    const seen: unknown[] = []
    const onTask = (task: DetailedTask) => void seen.push(task.status)
    const expired = await connectTo(scripted([{ status: 'working' }]), following({ onTask }))
    const expires = expect(expired.callTool('x')).rejects.toMatchObject({ code: 'TIMEOUT' })
    await until(() => seen.length > 0)
    const later = performance.now() + times.ttlMs + 5000
    const clock = vi.spyOn(performance, 'now').mockReturnValue(later)
    await expires.finally(() => clock.mockRestore())
    const peer = scripted([{ status: 'working' }], 100)
    const client = await connectTo(peer, following())
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const ends = expect(client.callTool('x', {}, { maxTimeoutMs: 1000 })).rejects.toMatchObject({
      code: 'TIMEOUT',
      data: { taskId: 't' },
    })
    await until(() => peer.received('tools/call').length === 1)
    for (let passedMs = 0; passedMs < 1000; passedMs += 100) {
      await settled()
      vi.advanceTimersByTime(100)
    }
    await ends
    expect(peer.received('tasks/cancel')).toEqual([])
  })

  test.each([
    ['before it was made', { lastUpdatedAt: '2000-01-01T00:00:00Z' }],
    ['never', { lastUpdatedAt: undefined }],
  ])('accepts a result that came %s by the clock of the server [M-TASK-031]', async (_, when) => {
    const client = await connectTo(scripted([{ ...completed, ...when }]), following())
    expect(textOf(await client.callTool('x'))).toBe('done')
    await client.close()
  })

  test.each([
    ['from years ago', { createdAt: '2020-01-01T00:00:00Z' }],
    ['without a time', { createdAt: undefined }],
    ['with a negative ttl', { ttlMs: -100_000 }],
    ['with an unlimited ttl', { ttlMs: null }],
  ])('follows a task %s, independent of clocks', async (_, odd) => {
    const peer = scripted([{ status: 'working', ...odd }, completed])
    const client = await connectTo(peer, following())
    expect(textOf(await client.callTool('x'))).toBe('done')
    expect(peer.received('tasks/get')).toHaveLength(2)
    await client.close()
  })

  test('ends with the task although the user did not answer yet, whose form is withdrawn [M-TASK-031]', async () => {
    const fixture = makeFixture()
    const asked: AbortSignal[] = []
    const { client } = await connectToFixture(
      fixture,
      {},
      {
        onElicit: (_params, { signal }) => {
          asked.push(signal)
          return new Promise(() => {})
        },
      },
    )
    const { client: other } = await connectToFixture(fixture)
    const started = await createTask(client, 'ask')
    if (!('task' in started)) throw new Error('It was no task')
    const followed = started.task.result()
    await until(() => asked.length > 0)
    expect(textOf(await getRemoteTask(other, started.task.id).result())).toBe('accept true r1')
    expect(textOf(await followed)).toBe('accept true r1')
    expect(asked.map(({ aborted }) => aborted)).toEqual([true])
    for (const each of [client, other]) await each.close()
  })

  test.each([400, 403, 404, 410])('does not poll again after HTTP %d', async (status) => {
    const peer = scripted([() => new Response('', { status })])
    const client = await connectTo(peer, following())
    await expect(client.callTool('x')).rejects.toMatchObject({ code: 'HTTP', data: { status } })
    expect(peer.received('tasks/get')).toHaveLength(1)
    await client.close()
  })

  test.each([
    ['by HTTP', () => new Response('', { status: 429 })],
    ['by an error', (request: ScriptedRequest) => error(request, 429, 200, { retryAfterMs: 1 })],
  ])(
    'polls again after it was rate-limited, as told %s [M-TASK-033] [M-TASK-075]',
    async (_, no) => {
      const client = await connectTo(scripted([no, completed]), following())
      expect(textOf(await client.callTool('x'))).toBe('done')
      await client.close()
    },
  )

  test('rejects a tool result without content, also from a task by its id', async () => {
    const client = await connectTo(scripted([{ status: 'completed', result: {} }]), following())
    await expect(getRemoteTask(client, 't').result()).rejects.toMatchObject({
      code: 'INVALID_MESSAGE',
    })
    await client.close()
  })

  test('checks the output of a task like any other', async () => {
    const { client } = await connectToFixture(makeFixture(), {}, { validateOutput: () => 'bad' })
    await client.listAllTools()
    await expect(client.callTool('quick')).resolves.toBeDefined()
    const checked = scripted([{ status: 'completed', result: {} }])
    const other = await connectTo(checked, following())
    await expect(other.callTool('x')).rejects.toMatchObject({ code: 'INVALID_MESSAGE' })
    await client.close()
  })
})

describe('Notifications', () => {
  test('replace polling where the server sends them [M-TASK-060]', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const fixture = makeFixture()
    const { client, sent } = await connectToFixture(fixture, { notifications: true })
    const call = client.callTool('wait')
    // Passes the time meanwhile
    await vi.waitUntil(() => sent.includes('subscriptions/listen'))
    await settled()
    const looks = (): number => sent.filter((method) => method === 'tasks/get').length
    const before = looks()
    // Without the stream, it would look every 20 ms
    await vi.advanceTimersByTimeAsync(1_000)
    fixture.gate.open()
    expect(textOf(await call)).toBe('Waited')
    expect(looks()).toBe(before)
    await client.close()
  })

  test('that end with the client end the call at once', async () => {
    const { client, sent } = await connectToFixture(makeFixture(), { notifications: true })
    const failed = expect(client.callTool('for-ever')).rejects.toMatchObject({ code: 'CLOSED' })
    await until(() => sent.includes('subscriptions/listen'))
    await settled()
    await client.close()
    await failed
  })

  test('are not needed: polling continues where the server sends none', async () => {
    const peer = scripted([
      { status: 'working' },
      { status: 'working' },
      { status: 'working' },
      { status: 'working' },
      completed,
    ])
    const client = await connectTo(peer, following({ notifications: true }))
    expect(textOf(await client.callTool('x'))).toBe('done')
  })
})

describe('A task', () => {
  test('is returned instead of polled, and continues by its id in another process [M-TASK-032]', async () => {
    const fixture = makeFixture()
    const { client } = await connectToFixture(fixture)
    const started = await createTask(client, 'wait')
    if (!('task' in started)) throw new Error('It was no task')
    const stored = JSON.stringify({ task: started.task.id })
    await client.close()

    const { client: later } = await connectToFixture(fixture)
    const task = getRemoteTask(later, (JSON.parse(stored) as { task: string }).task)
    expect((await task.get()).status).toBe('working')
    fixture.gate.open()
    const seen: DetailedTask[] = []
    const end = await task.result({ onTask: (state) => seen.push(state) })
    expect(textOf(end)).toBe('Waited')
    expect(seen.at(-1)?.status).toBe('completed')
    await later.close()
  })

  test('can be cancelled, or can turn out to be a plain result [M-TASK-051]', async () => {
    const fixture = makeFixture()
    const { client } = await connectToFixture(fixture)
    const started = await createTask(client, 'for-ever')
    if (!('task' in started)) throw new Error('It was no task')
    await started.task.cancel()
    await expect(started.task.result()).rejects.toMatchObject({ code: 'ABORTED' })
    expect(await createTask(client, 'plain')).toMatchObject({ result: { content: [{}] } })
    await client.close()
  })

  test('may be preceded by questions, which are answered on the way to it', async () => {
    const fixture = makeFixture()
    const sure = { key: 'sure', message: 'Sure?', schema: z.object({ yes: z.boolean() }) }
    fixture.server.tool(
      'before',
      {
        task: { support: 'required', before: (_args, ctx) => ctx.elicit(sure) },
        output: z.object({ yes: z.boolean() }),
      },
      async (_args, ctx) => ({
        structuredContent: { yes: (await ctx.elicit(sure)).content?.yes ?? false },
      }),
    )
    const faults: unknown[] = []
    const { client } = await connectToFixture(
      fixture,
      {},
      { validateOutput: (_schema, value) => void faults.push(value) },
    )
    await client.listAllTools()
    const started = await createTask(client, 'before')
    if (!('task' in started)) throw new Error('It was no task')
    const { structuredContent } = await started.task.result()
    expect(structuredContent).toEqual({ yes: true })
    expect(faults).toEqual([])
    await client.close()
  })

  test('is reported to onTask as soon as it is known', async () => {
    const fixture = makeFixture()
    fixture.gate.open()
    const ids: string[] = []
    const { client } = await connectToFixture(fixture, { onTask: ({ taskId }) => ids.push(taskId) })
    await client.callTool('wait')
    expect(new Set(ids).size).toBe(1)
    await client.close()
  })
})
