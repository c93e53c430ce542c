import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { MiniflareOptions } from 'miniflare'
import { ErrorCode, type JsonObject } from '../../../src/index.ts'
import { bundleWorker, startWorker, withTasks, type Workerd } from '../cloudflare/workerd.ts'
import { lastMessage, openSession } from '../../transport/streamable-http/post.ts'
import { textOf, wireOver, type Wire } from '../../tasks/fixture.ts'

let workerd: Workerd
let wire: Wire

beforeAll(async () => {
  const durableObjects = {
    ...(withTasks.durableObjects as object),
    JOURNAL: { className: 'Journal', useSQLite: true },
  }
  const options = { durableObjects } as Partial<MiniflareOptions>
  workerd = await startWorker(await bundleWorker('../tasks/worker.ts'), options)
  wire = wireOver((request, { principal }) => {
    if (principal !== undefined) request.headers.set('x-principal', principal)
    return workerd.handle(request, {})
  })
})
afterAll(() => workerd?.stop())

const accept = { action: 'accept', content: { yes: true } }

/** What handlers noted, over restarts. */
async function journal(): Promise<string[]> {
  return (await (await workerd.get('/journal')).json()) as string[]
}

/** Waits until something was noted. */
async function noted(what: string, times = 1): Promise<void> {
  await expect
    .poll(async () => (await journal()).filter((each) => each === what).length)
    .toBeGreaterThanOrEqual(times)
}

describe('A task on Workers', () => {
  test('is durable before its id is returned: any instance finds it at once [M-TASK-017] [M-TASK-072]', async () => {
    for (let n = 0; n < 20; n++) {
      const taskId = await wire.start('quick')
      expect((await wire.result('tasks/get', { taskId })).taskId).toBe(taskId)
    }
  })

  test('completes, fails, and keeps what it came to over a restart', async () => {
    const ids = [await wire.start('quick'), await wire.start('fail'), await wire.start('crash')]
    const ends = await Promise.all(ids.map((id) => wire.until(id, 'completed', 'failed')))
    expect(ends.map(({ status }) => status)).toEqual(['completed', 'completed', 'failed'])
    await workerd.restart()
    expect(await Promise.all(ids.map((taskId) => wire.result('tasks/get', { taskId })))).toEqual(
      ends,
    )
  })

  test('that was broken off between two steps continues, and does nothing twice', async () => {
    const taskId = await wire.start('steps')
    await noted('between')
    await workerd.restart()
    const done = await wire.until(taskId, 'completed', 'failed')
    expect(textOf(done.result)).toBe('both')
    const notes = await journal()
    const count = (what: string): number => notes.filter((each) => each === what).length
    expect([count('first'), count('second')]).toEqual([1, 1])
    expect(count('run')).toBeGreaterThan(1)
  })

  test('that was broken off in the middle of a step begins that step again, and ends it once', async () => {
    const taskId = await wire.start('mid-step')
    await noted('mid-begun')
    await workerd.restart()
    const done = await wire.until(taskId, 'completed', 'failed')
    expect(textOf(done.result)).toBe('begun 2 times')
    const notes = await journal()
    const count = (what: string): number => notes.filter((each) => each === what).length
    expect([count('mid-first'), count('mid-done')]).toEqual([1, 1])
  })

  test('asks, and is answered after a restart', async () => {
    const taskId = await wire.start('ask')
    const { inputRequests } = await wire.until(taskId, 'input_required')
    expect(inputRequests).toMatchObject({ sure: { params: { message: 'Pay 42?' } } })
    await workerd.restart()
    await Promise.all([
      wire.result('tasks/update', { taskId, inputResponses: { sure: accept } }),
      wire.result('tasks/update', { taskId, inputResponses: { sure: { action: 'decline' } } }),
    ])
    const done = await wire.until(taskId, 'completed')
    expect(['accept true', 'decline ']).toContain(textOf(done.result))
    expect((await journal()).filter((each) => each === 'price' || each === 'pay')).toEqual([
      'price',
      'pay',
    ])
  })

  test('is cancelled while it works, which aborts its handler', async () => {
    const taskId = await wire.start('for-ever')
    await noted('for-ever')
    await wire.result('tasks/cancel', { taskId })
    expect((await wire.result('tasks/get', { taskId })).status).toBe('cancelled')
    await noted('aborted')
  })

  test('is forgotten when its time is over [M-TASK-036]', async () => {
    const created = await wire.result('tools/call', { name: 'short' })
    expect(created.ttlMs).toBe(1500)
    const { taskId } = created
    await expect
      .poll(async () => (await wire.call('tasks/get', { taskId })).error?.code)
      .toBe(ErrorCode.INVALID_PARAMS)
  })

  test('is unknown to other principals, as are ids that were never issued [M-TASK-052] [M-TASK-070]', async () => {
    const taskId = await wire.as('ada').start('quick')
    const other = await wire.as('eve').call('tasks/get', { taskId })
    for (const id of ['unknown', taskId.replace(/^.{8}/, '00000000'), '0'.repeat(64)]) {
      expect((await wire.call('tasks/get', { taskId: id })).error).toEqual(other.error)
    }
    expect(other.error?.code).toBe(ErrorCode.INVALID_PARAMS)
  })

  test('takes its outcome from a queue consumer in another isolate', async () => {
    const taskId = await wire.start('job')
    await noted(taskId)
    expect(await (await workerd.get(`/complete?id=${taskId}`)).json()).toBe(true)
    expect(textOf((await wire.result('tasks/get', { taskId })).result)).toBe('From a queue')
    expect(await (await workerd.get(`/complete?id=${taskId}`)).json()).toBe(false)
    expect(await (await workerd.get('/complete?id=unknown')).json()).toBe(false)
  })

  test.each(['lives', 'crashes'])(
    'is notified on a stream when its object %s [M-TASK-056]',
    async (what) => {
      const taskId = await wire.start('ask')
      await wire.until(taskId, 'input_required')
      const controller = new AbortController()
      const { modernHeaders, modernRequest } =
        await import('../../transport/streamable-http/post.ts')
      const { KNOWS } = await import('../../tasks/fixture.ts')
      const response = await fetch(new URL('/mcp', workerd.url), {
        method: 'POST',
        signal: controller.signal,
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...(modernHeaders('subscriptions/listen') as Record<string, string>),
        },
        body: JSON.stringify(
          modernRequest('subscriptions/listen', { notifications: { taskIds: [taskId] } }, KNOWS),
        ),
      })
      let received = ''
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
      const readUntil = async (what: string): Promise<void> => {
        while (!received.includes(what)) {
          const { value, done } = (await reader?.read()) ?? { done: true }
          if (done) throw new Error(`The stream ended: ${received}`)
          received += value
        }
      }
      await readUntil('"status":"input_required"')
      if (what === 'crashes') await workerd.get(`/crash?id=${taskId}`)
      await wire.result('tasks/update', { taskId, inputResponses: { sure: accept } })
      await readUntil('"status":"completed"')
      controller.abort()
    },
  )

  test('that cannot be ended for now is forgotten when its time is over', async () => {
    const created = await wire.result('tools/call', { name: 'ask' })
    const taskId = String(created.taskId)
    await wire.until(taskId, 'input_required')
    const response = await workerd.get(`/last-ring?id=${taskId}`)
    expect(response.status).toBe(200)
    const { createdAt } = await wire.result('tasks/get', { taskId })
    expect(await response.json()).toBe(Date.parse(String(createdAt)) + Number(created.ttlMs))
  })

  test('that no handler would run is refused, and leaves nothing', async () => {
    await workerd.get('/alarms?are=refused')
    const { result } = await wire.call('tools/call', { name: 'quick' })
    const left = await (await workerd.get('/alarms?are=set')).json()
    expect(result).toMatchObject({ isError: true })
    expect(left).toEqual([])
  })
})

describe('A task of a session on Workers', () => {
  test('waits in tasks/result, requests input there, and is not listed [L-TASK-022] [L-TASK-037]', async () => {
    const { send } = await openSession(workerd.handle, '2025-11-25', { elicitation: {} })
    const request = (id: number, method: string, params: JsonObject): JsonObject => ({
      jsonrpc: '2.0',
      id,
      method,
      params,
    })
    const created = await lastMessage(
      await send(request(1, 'tools/call', { name: 'ask', task: {} })),
    )
    const { taskId } = created.result.task as { taskId: string }
    const stream = await send(request(2, 'tasks/result', { taskId }))
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader()
    let received = ''
    const readUntil = async (pattern: RegExp): Promise<RegExpExecArray> => {
      for (;;) {
        const found = pattern.exec(received)
        if (found) return found
        const { value, done } = (await reader?.read()) ?? { done: true }
        if (done) throw new Error(`The stream ended: ${received}`)
        received += value
      }
    }
    const [line] = await readUntil(/data: (.*elicitation\/create.*)\n/)
    const asked = JSON.parse(line.slice(6)) as { id: unknown; params: JsonObject }
    expect(asked.params._meta).toEqual({ 'io.modelcontextprotocol/related-task': { taskId } })
    await send({ jsonrpc: '2.0', id: asked.id, result: accept })
    const [last] = await readUntil(/data: (.*"id":2.*)\n/)
    expect(textOf((JSON.parse(last.slice(6)) as { result: unknown }).result)).toBe('accept true')
    const listed = await lastMessage(await send(request(3, 'tasks/list', {})))
    expect(listed.error.code).toBe(-32601)
  })
})
