// The scopes of a tool cover its tasks, for every request of another client of the same user.
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/index.ts'
import { protectedResource } from '../../src/protected-resource/index.ts'
import {
  createHandler,
  createServer,
  createSseHandler,
  statefulSessions,
  type Handler,
} from '../../src/presets/server.ts'
import { tasks } from '../../src/tasks/index.ts'
import { EventReader } from '../runtimes/cloudflare/events.ts'
import { closing } from '../closing.ts'
import { RESOURCE } from '../protected-resource/issuer.ts'
import {
  allMessages,
  initializeRequest,
  lastMessage,
  modernHeaders,
  modernRequest,
  post,
} from '../transport/streamable-http/post.ts'
import { KNOWS } from './fixture.ts'

const FULL = { authorization: 'Bearer mcp+export' }
const LIMITED = { authorization: 'Bearer mcp' }

/** A protected server whose tool `export` needs a scope, and is always a task. */
function makeProtected() {
  const server = createServer({ name: 'exports', version: '1' })
  server.extend(tasks({ list: true, pollIntervalMs: 20 }))
  const register = () =>
    server.tool('export', { scopes: ['export'], task: 'required' }, () => 'everything')
  const registered = register()
  const auth = protectedResource({
    resource: RESOURCE,
    authorizationServers: ['https://issuer.example'],
    verify: async (token) => ({ subject: 'ada', audience: RESOURCE, scopes: token.split('+') }),
    scopes: ['mcp'],
  })
  const handle = createHandler(server, { auth, sessions: statefulSessions() })
  closing(handle)
  return { server, handle, auth, registered }
}

const ask = async (
  handle: Handler,
  method: string,
  params: JsonObject,
  headers: Record<string, string>,
) => {
  const repeated = modernHeaders(method, params.name ?? params.taskId)
  return lastMessage(
    await post(handle, modernRequest(method, params, KNOWS), { ...repeated, ...headers }),
  )
}

async function makeTask(handle: Handler): Promise<string> {
  const made = await ask(handle, 'tools/call', { name: 'export' }, FULL)
  const taskId = String(made.result.taskId)
  await expect
    .poll(async () => (await ask(handle, 'tasks/get', { taskId }, FULL)).result)
    .toMatchObject({ status: 'completed' })
  return taskId
}

describe("The scopes of a tool cover its tasks for the same user's other clients", () => {
  it('tasks/get, tasks/update and tasks/cancel know no such task [S007]', async () => {
    const { handle } = makeProtected()
    const taskId = await makeTask(handle)
    const unknown = await ask(handle, 'tasks/get', { taskId: 'none' }, LIMITED)
    for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update']) {
      const params = { taskId, inputResponses: {} }
      expect((await ask(handle, method, params, LIMITED)).error, method).toEqual(unknown.error)
      expect((await ask(handle, method, params, FULL)).result, method).toBeDefined()
    }
  })

  it('subscriptions/listen sends no notifications of the task [S007]', async () => {
    const { handle } = makeProtected()
    const taskId = await makeTask(handle)
    const listen = async (headers: Record<string, string>) => {
      const request = modernRequest(
        'subscriptions/listen',
        { notifications: { taskIds: [taskId] } },
        KNOWS,
      )
      const repeated = modernHeaders('subscriptions/listen')
      const reader = new EventReader(await post(handle, request, { ...repeated, ...headers }))
      const { params } = (await reader.next())!.message!
      return { reader, notifications: params?.notifications }
    }
    const limited = await listen(LIMITED)
    expect(limited.notifications).toEqual({})
    await limited.reader.cancel()
    const full = await listen(FULL)
    expect(full.notifications).toEqual({ taskIds: [taskId] })
    expect((await full.reader.until('everything')).message).toBeDefined()
    await full.reader.cancel()
  })

  it('sessions of 2025-11-25 neither list, get, cancel nor read it [S007]', async () => {
    const { handle } = makeProtected()
    const open = async (headers: Record<string, string>) => {
      const opened = await post(handle, initializeRequest(), headers)
      const session = { 'mcp-session-id': opened.headers.get('mcp-session-id')!, ...headers }
      let id = 0
      return async (method: string, params: JsonObject) => {
        const request = { jsonrpc: '2.0', id: ++id, method, params }
        return (await allMessages(await post(handle, request, session))).at(-1) as {
          result?: { task?: { taskId: string }; tasks?: unknown[] }
          error?: object
        }
      }
    }
    const full = await open(FULL)
    const limited = await open(LIMITED)
    const made = await full('tools/call', { name: 'export', task: {} })
    const { taskId } = made.result!.task!
    expect(await full('tasks/result', { taskId })).toHaveProperty('result.content')
    expect((await full('tasks/list', {})).result?.tasks).toHaveLength(1)
    expect((await limited('tasks/list', {})).result?.tasks).toEqual([])
    const { error } = await limited('tasks/get', { taskId: 'none' })
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
      expect(await limited(method, { taskId }), method).toHaveProperty('error', error)
    }
  })

  it('a tool that is disabled, or taken away, still covers its tasks [S007]', async () => {
    const { handle, registered } = makeProtected()
    const taskId = await makeTask(handle)
    for (const change of ['disable', 'remove'] as const) {
      registered[change]()
      expect((await ask(handle, 'tasks/get', { taskId }, FULL)).result).toBeDefined()
      expect((await ask(handle, 'tasks/get', { taskId }, LIMITED)).error).toBeDefined()
    }
  })

  it('a tool that is hidden from a client hides its tasks [S007]', async () => {
    const server = createServer({ name: 'hidden', version: '1' })
    server.extend(tasks({ pollIntervalMs: 20 }))
    server.tool(
      'export',
      { visible: ({ auth }) => auth?.clientId === 'one', task: 'required' },
      () => 'everything',
    )
    const handle = createHandler(server)
    closing(handle)
    const as = (clientId: string): Handler =>
      Object.assign(
        (request: Request) => handle(request, { principal: 'ada', auth: { clientId } }),
        { close: handle.close },
      )
    const taskId = await makeTask(as('one'))
    expect((await ask(as('two'), 'tasks/get', { taskId }, {})).error).toBeDefined()
  })

  it('a client of HTTP+SSE knows no such task [S007]', async () => {
    const { server, handle, auth } = makeProtected()
    const taskId = await makeTask(handle)
    const sse = createSseHandler(server, { auth })
    closing(sse)
    for (const [headers, known] of [
      [FULL, 'everything'],
      [LIMITED, 'Unknown task'],
    ] as const) {
      const url = new URL('/sse', RESOURCE)
      const reader = new EventReader(await sse(new Request(url, { headers })))
      const { data } = (await reader.next())!
      const body = JSON.stringify(modernRequest('tasks/get', { taskId }, KNOWS))
      const init = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' } }
      expect((await sse(new Request(new URL(data, url), { ...init, body }))).status).toBe(202)
      expect(JSON.stringify((await reader.next())?.message)).toContain(known)
      await reader.cancel()
    }
  })
})
