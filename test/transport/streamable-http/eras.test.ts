/** One endpoint for clients of both eras: each message shows which rules apply to it. */
import { afterAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import type { JsonObject, JsonRpcNotification } from '../../../src/index.ts'
import { createHandler, createServer, text } from '../../../src/presets/server.ts'
import { sessionHandler } from '../../handler.ts'
import {
  allMessages,
  lastMessage,
  modernHeaders,
  modernRequest,
  openSession,
  post,
  postModern,
} from './post.ts'

const server = createServer({ name: 'both', version: '1' }, { onError: () => {} })
server.tool('list', { output: z.array(z.number()) }, () => ({ structuredContent: [1, 2] }))
server.tool('log', {}, async (_args, ctx) => {
  await ctx.log('debug', 'detail')
  await ctx.log('error', 'failure')
  return text('logged')
})
server.tool('ask', {}, async (_args, ctx) => String((await ctx.roots()).length))
server.resource('note://one', { name: 'one' }, () => 'First note')
const handle = sessionHandler(server)
afterAll(() => handle.close())

const clientInfo = { name: 'c', version: '1' }
const initialize = (protocolVersion: string, more: JsonObject = {}) => ({
  jsonrpc: '2.0',
  id: 'init',
  method: 'initialize',
  params: { protocolVersion, capabilities: {}, clientInfo, ...more },
})
const request = (method: string, params: JsonObject = {}, id: string | number = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
})

describe('one endpoint', () => {
  it('decides by each message: eras may alternate on one connection [M-COMPAT-002] [M-COMPAT-004] [M-COMPAT-016]', async () => {
    const { send } = await openSession(handle)
    for (let turn = 0; turn < 3; turn++) {
      const modern = await postModern(handle, 'tools/call', { name: 'list' })
      expect(modern.headers.get('mcp-session-id')).toBe(null)
      expect((await lastMessage(modern)).result).toMatchObject({
        resultType: 'complete',
        structuredContent: [1, 2],
      })
      const legacy = await send(request('tools/call', { name: 'list' }))
      const { result } = await lastMessage(legacy)
      expect(result).toEqual({ content: [{ type: 'text', text: '[1,2]' }] })
      expect((await lastMessage(await send(request('ping')))).result).toEqual({})
      expect((await postModern(handle, 'ping')).status).toBe(404)
    }
  })

  it('answers initialize that asks for 2026-07-28, or more, with the newest revision that has it [M-COMPAT-005]', async () => {
    for (const version of ['2026-07-28', '2027-01-01', 'next']) {
      const { result } = await lastMessage(await post(handle, initialize(version)))
      expect(result).toMatchObject({ protocolVersion: '2025-11-25' })
    }
  })

  it('rejects an initialize that describes itself, or has a header of 2026-07-28 [M-COMPAT-006]', async () => {
    const { _meta } = modernRequest('initialize').params
    const described = initialize('2026-07-28', { _meta })
    for (const [message, headers] of [
      [described, modernHeaders('initialize')],
      [initialize('2025-11-25'), { 'mcp-protocol-version': '2026-07-28' }],
    ] as const) {
      const response = await post(handle, message, headers)
      expect(response.status).toBe(404)
      expect((await lastMessage(response)).error.code).toBe(-32601)
      expect(response.headers.get('mcp-session-id')).toBe(null)
    }
  })

  it('does not treat a message as one of a session because its _meta is missing [M-COMPAT-007]', async () => {
    const { id } = await openSession(handle)
    for (const headers of [modernHeaders('tools/list'), { 'mcp-session-id': id }]) {
      const response = await post(handle, request('tools/list'), {
        ...modernHeaders('tools/list'),
        ...headers,
      })
      expect([response.status, (await lastMessage(response)).error.code]).toEqual([400, -32602])
    }
  })

  it('treats messages with an older version, or none, as those of sessions [M-COMPAT-008]', async () => {
    const { send } = await openSession(handle, '2025-06-18')
    for (const headers of [{}, { 'mcp-protocol-version': '2025-06-18' }]) {
      const { result } = await lastMessage(await send(request('tools/list'), headers))
      expect(result).not.toHaveProperty('resultType')
    }
    const unnamed = await post(handle, request('tools/list'))
    expect(unnamed.status).toBe(400)
    expect((await lastMessage(unnamed)).error.message).toContain('Mcp-Session-Id')
  })

  it('has sessions, streams and their ends only in the revisions with sessions [M-COMPAT-009] [M-COMPAT-010]', async () => {
    const { id, send } = await openSession(handle)
    for (const session of [id, 'unknown', '']) {
      const response = await post(handle, modernRequest('tools/list'), {
        ...modernHeaders('tools/list'),
        'mcp-session-id': session,
        'last-event-id': '7',
      })
      expect(response.status).toBe(200)
      expect(response.headers.get('mcp-session-id')).toBe(null)
    }
    const stream = await postModern(handle, 'tools/call', {
      name: 'log',
      _meta: { 'io.modelcontextprotocol/logLevel': 'debug' },
    })
    expect(await stream.text()).not.toMatch(/^id:/m)
    // The session was not notified
    expect((await lastMessage(await send(request('ping')))).result).toEqual({})
  })

  it('gives neither era features of the other [M-COMPAT-011] [M-COMPAT-012] [M-COMPAT-018]', async () => {
    const { send } = await openSession(handle)
    const methods: [string, JsonObject][] = [
      ['tools/list', {}],
      ['resources/list', {}],
      ['resources/read', { uri: 'note://one' }],
      ['tools/call', { name: 'list' }],
    ]
    for (const [method, params] of methods) {
      const legacy = (await lastMessage(await send(request(method, params)))).result
      for (const member of ['resultType', 'ttlMs', 'cacheScope', '_meta']) {
        expect(legacy, method).not.toHaveProperty(member)
      }
      const modern = (await lastMessage(await postModern(handle, method, params))).result
      expect(modern, method).toMatchObject({
        resultType: 'complete',
        _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'both' } },
      })
    }
    const missing = { uri: 'note://none' }
    expect((await lastMessage(await send(request('resources/read', missing)))).error.code).toBe(
      -32002,
    )
    const modern = await lastMessage(await postModern(handle, 'resources/read', missing))
    expect(modern.error).toMatchObject({ code: -32602, data: missing })
    const lacking = await lastMessage(await send(request('tools/call', { name: 'ask' })))
    expect(lacking.result).toMatchObject({ isError: true })
    const lacks = await lastMessage(await postModern(handle, 'tools/call', { name: 'ask' }))
    expect(lacks.error).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { roots: {} } },
    })
  })

  it('keeps the level of logs for a session, and takes that of each other request [M-COMPAT-015]', async () => {
    const { send } = await openSession(handle)
    await send(request('logging/setLevel', { level: 'error' }))
    const logs = async (response: Response): Promise<unknown[]> =>
      ((await allMessages(response)) as JsonRpcNotification[])
        .filter(({ method }) => method === 'notifications/message')
        .map(({ params }) => params?.data)
    const call = { name: 'log' }
    expect(await logs(await postModern(handle, 'tools/call', call))).toEqual([])
    expect(await logs(await send(request('tools/call', call)))).toEqual(['failure'])
    const _meta = { 'io.modelcontextprotocol/logLevel': 'debug' }
    const leveled = await postModern(handle, 'tools/call', { ...call, _meta })
    expect(await logs(leveled)).toEqual(['detail', 'failure'])
    expect(await logs(await send(request('tools/call', call, 2)))).toEqual(['failure'])
  })

  it('notifies sessions of changes on their stream, and others on subscriptions/listen [M-COMPAT-014]', async () => {
    const { id, send } = await openSession(handle)
    await send(request('resources/subscribe', { uri: 'note://one' }))
    const headers = { accept: 'text/event-stream', 'mcp-session-id': id }
    const session = await handle(new Request('http://localhost/mcp', { headers }))
    const listening = await postModern(handle, 'subscriptions/listen', {
      notifications: { resourceSubscriptions: ['note://one'] },
    })
    const readers = [session, listening].map(({ body }) => body!.getReader())
    const until = async (at: number, wanted: string): Promise<string> => {
      let said = ''
      while (!said.includes(wanted)) {
        said += new TextDecoder().decode((await readers[at]!.read()).value)
      }
      return said
    }
    await until(1, 'acknowledged')
    server.notify.resourceUpdated('note://one')
    const received = await Promise.all([
      until(0, 'resources/updated'),
      until(1, 'resources/updated'),
    ])
    expect(received.map((said) => said.includes('subscriptionId'))).toEqual([false, true])
    for (const reader of readers) await reader.cancel()
  })
})

describe('an endpoint of 2026-07-28 only', () => {
  const only = createHandler(
    createServer({ name: 'new', version: '1' }, { revisions: ['2026-07-28'] }),
  )

  it('rejects initialize with the versions that it supports [M-COMPAT-020] [M-COMPAT-019]', async () => {
    const response = await post(only, initialize('2025-11-25'))
    expect(response.status).toBe(400)
    expect((await lastMessage(response)).error).toEqual({
      code: -32020,
      message: 'The server has no sessions: use 2026-07-28',
      data: { supported: ['2026-07-28'], requested: '2025-11-25' },
    })
  })
})
