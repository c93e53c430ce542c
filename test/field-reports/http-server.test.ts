/** Public reports of servers over HTTP that went wrong, replayed. */
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import type { JsonObject } from '../../src/index.ts'
import { createServer, text, type Handler } from '../../src/presets/server.ts'
import { sessionHandler } from '../handler.ts'
import { createEndpoint } from '../../src/transport/streamable-http/endpoint.ts'
import { makeServer } from '../server/fixture.ts'
import {
  lastMessage,
  modernHeaders,
  modernRequest,
  openSession,
  post,
  postModern,
  postRaw,
} from '../transport/streamable-http/post.ts'

const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
const add = (id: number): JsonObject => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'add', arguments: { a: 1, b: 2 } },
})

const init = (protocolVersion: unknown): JsonObject => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion, capabilities: {}, clientInfo: { name: 'c', version: '1' } },
})

/** Asks with any method and headers. */
function ask(
  handle: Handler,
  method: string,
  headers: Record<string, string>,
  url = 'http://localhost/mcp',
): Promise<Response> {
  return handle(new Request(url, { method, headers }))
}

describe('the version header', () => {
  it.each([
    ['2025-11-25, 2025-11-25', 200],
    ['2025-11-25,2025-11-25,2025-11-25', 200],
    ['2025-11-25, 2025-06-18', 400],
    ['2025-11-25, ', 400],
  ])('%j is answered with %i [B017]', async (version, status) => {
    const { send } = await openSession(sessionHandler(makeServer().server))
    expect((await send(list, { 'mcp-protocol-version': version })).status).toBe(status)
  })

  it.each([
    ['1900-01-01', 400],
    ['not-a-version', 400],
    ['', 400],
    [undefined, 200],
    ['2025-11-25', 200],
  ])('%j on POST, GET and DELETE is answered with %i [B031]', async (version, status) => {
    const { id, send } = await openSession(sessionHandler(makeServer().server))
    expect((await send(list, { 'mcp-protocol-version': version })).status).toBe(status)
    const handle = sessionHandler(makeServer().server)
    const other = await openSession(handle)
    const headers = {
      'mcp-session-id': other.id,
      accept: 'text/event-stream',
      ...(version !== undefined && { 'mcp-protocol-version': version }),
    }
    const stream = await ask(handle, 'GET', headers)
    expect(stream.status).toBe(status)
    await stream.body?.cancel()
    expect((await ask(handle, 'DELETE', headers)).status).toBe(status)
    expect(id).not.toBe('')
  })

  it.each([undefined, 'nonsense', '2025-11-25', '1900-01-01'])(
    '%j does not prevent initialize, whose body has the version [B031]',
    async (version) => {
      const handle = sessionHandler(makeServer().server)
      const response = await post(handle, init('2025-11-25'), { 'mcp-protocol-version': version })
      expect(response.status).toBe(200)
      expect((await lastMessage(response)).result.protocolVersion).toBe('2025-11-25')
    },
  )

  it('of a later revision that the body asks for as well is negotiated down [B031]', async () => {
    const handle = sessionHandler(makeServer().server)
    const response = await post(handle, init('2099-01-01'), {
      'mcp-protocol-version': '2099-01-01',
    })
    expect((await lastMessage(response)).result.protocolVersion).toBe('2025-11-25')
  })

  it('must match the body in 2026-07-28 [B031]', async () => {
    const handle = sessionHandler(makeServer().server)
    const headers = modernHeaders('tools/list')
    const statuses: unknown[] = []
    for (const version of ['2026-07-28', undefined, '2025-11-25', '1900-01-01']) {
      const response = await post(handle, modernRequest('tools/list'), {
        ...headers,
        'mcp-protocol-version': version,
      })
      statuses.push([response.status, (await lastMessage(response)).error?.code])
    }
    expect(statuses).toEqual([
      [200, undefined],
      [400, -32020],
      [400, -32020],
      [400, -32020],
    ])
  })
})

describe('a stream by GET', () => {
  it.each([{ sessions: false as const }, { jsonOnly: true }])(
    'that is not offered is answered with 405, for any Accept header: %j [B023]',
    async (options) => {
      const handle = sessionHandler(makeServer().server, options)
      for (const accept of ['text/event-stream', 'application/json', '*/*']) {
        const response = await ask(handle, 'GET', { accept })
        expect(response.status).toBe(405)
        expect(response.headers.get('allow')).toContain('POST')
      }
    },
  )

  it('and DELETE are answered with 405 if the server supports only 2026-07-28 [B023]', async () => {
    const handle = sessionHandler(
      createServer({ name: 's', version: '1' }, { revisions: ['2026-07-28'] }),
    )
    for (const method of ['GET', 'DELETE']) {
      expect((await ask(handle, method, { accept: 'text/event-stream' })).status).toBe(405)
    }
  })
})

describe('one id in flight twice', () => {
  /** A server whose tool says who called, some time later. */
  function whoami(): Handler {
    let calls = 0
    const server = createServer({ name: 's', version: '1' })
    server.tool('whoami', { input: z.object({}) }, async (_args, ctx) => {
      const before = ctx.request?.headers.get('authorization')
      for (let turns = (calls++ * 7) % 5; turns > 0; turns--) await ctx.progress(6 - turns)
      if (ctx.request?.headers.get('authorization') !== before) throw new Error('crossed')
      return text(String(before))
    })
    return sessionHandler(server)
  }
  const params = { name: 'whoami', arguments: {}, _meta: { progressToken: 1 } }
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }

  it('gives each exchange its own answer, in any revision [B029]', async () => {
    const handle = whoami()
    for (let round = 0; round < 100; round++) {
      const tokens = Array.from({ length: 5 }, (_, n) => `Bearer ${round}-${n}`)
      const answers = await Promise.all(
        tokens.map(async (authorization) => {
          const request = modernRequest('tools/call', params)
          const headers = { ...modernHeaders('tools/call', 'whoami'), authorization }
          return (await lastMessage(await post(handle, request, headers))).result.content
        }),
      )
      expect(answers).toEqual(tokens.map((token) => [text(token)]))
    }
  })

  it('gives each session its own answer [B029]', async () => {
    const handle = whoami()
    const sessions = await Promise.all(Array.from({ length: 10 }, () => openSession(handle)))
    for (let round = 0; round < 20; round++) {
      const answers = await Promise.all(
        sessions.map(async ({ id, send }) => {
          const response = await send(call, { authorization: `Bearer ${id}` })
          return (await lastMessage(response)).result.content
        }),
      )
      expect(answers).toEqual(sessions.map(({ id }) => [text(`Bearer ${id}`)]))
    }
  })

  it('refuses the second one in a session, and answers the first [B029]', async () => {
    const { send } = await openSession(whoami())
    const [first, second] = await Promise.all([
      send(call, { authorization: 'Bearer a' }).then(lastMessage),
      send(call, { authorization: 'Bearer b' }),
    ])
    expect(first.result.content).toEqual([text('Bearer a')])
    expect([second.status, (await lastMessage(second)).error.code]).toEqual([400, -32600])
  })
})

describe('pages of other origins', () => {
  const origin = 'https://app.example'
  const handle = sessionHandler(makeServer().server, { allowedOrigins: [origin] })
  const asked =
    'content-type, authorization, mcp-protocol-version, mcp-session-id, last-event-id, mcp-method, mcp-name, mcp-param-city'

  it.each(['POST', 'GET', 'DELETE'])(
    'may ask by %s whether they may call [B033]',
    async (method) => {
      const response = await ask(handle, 'OPTIONS', {
        origin,
        'access-control-request-method': method,
        'access-control-request-headers': asked,
      })
      const { status, headers } = response
      expect(status).toBe(204)
      expect(headers.get('access-control-allow-origin')).toBe(origin)
      expect(headers.get('access-control-allow-methods')).toContain(method)
      const allowed = headers.get('access-control-allow-headers')?.split(', ')
      expect(allowed).toEqual(expect.arrayContaining(asked.split(', ')))
      expect(headers.get('vary')).toMatch(/origin/i)
      expect(headers.get('access-control-allow-credentials')).toBeNull()
    },
  )

  it('can read answers and refusals alike [B033]', async () => {
    const opened = await post(handle, init('2025-11-25'), { origin })
    const gone = await post(handle, list, { origin, 'mcp-session-id': 'gone' })
    const bad = await postRaw(handle, '{', { origin })
    expect([opened.status, gone.status, bad.status]).toEqual([200, 404, 400])
    for (const { headers } of [opened, gone, bad]) {
      expect(headers.get('access-control-allow-origin')).toBe(origin)
      expect(headers.get('access-control-expose-headers')).toMatch(/mcp-session-id/i)
      expect(headers.get('access-control-expose-headers')).toMatch(/www-authenticate/i)
      expect(headers.get('vary')).toMatch(/origin/i)
    }
  })
})

describe('the host on this machine', () => {
  const { fetch } = createEndpoint(makeServer().server, { hostname: '127.0.0.1', port: 3000 })
  const body = JSON.stringify(init('2025-11-25'))
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  }

  it.each([
    ['localhost:3000', 200],
    ['localhost', 200],
    ['127.0.0.1', 200],
    ['[::1]:3000', 200],
    ['[::1]', 200],
    ['LOCALHOST:3000', 200],
    ['localhost.evil.io', 403],
    ['evil.io:3000', 403],
    ['127.0.0.1.evil.io', 403],
    ['[::2]:3000', 403],
  ])('%s is answered with %i [B035]', async (host, status) => {
    const request = new Request(`http://${host}/mcp`, { method: 'POST', headers, body })
    expect((await fetch(request)).status).toBe(status)
  })

  it('is rejected if the list of allowed hosts is empty [B035]', async () => {
    const handle = sessionHandler(makeServer().server, { allowedHosts: [] })
    expect((await post(handle, init('2025-11-25'))).status).toBe(403)
  })
})

describe('where a handler is mounted', () => {
  it.each(['/', '/mcp', '/a/b/mcp', '/tenant-1/mcp/', '/mcp?key=1'])(
    'does not matter for its answers: %s [B039]',
    async (path) => {
      const handle = sessionHandler(makeServer().server)
      const request = new Request(`http://localhost${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: '*/*' },
        body: JSON.stringify(init('2025-11-25')),
      })
      expect((await handle(request)).status).toBe(200)
    },
  )
})

describe('arrays of messages', () => {
  const arrays: [string, (call: (id: number) => unknown) => unknown[]][] = [
    ['[]', () => []],
    ['[initialize]', () => [init('2025-11-25')]],
    ['[call, call]', (call) => [call(1), call(2)]],
    ['[notification]', () => [{ jsonrpc: '2.0', method: 'notifications/x' }]],
    ['[[]]', () => [[]]],
  ]

  it.each(arrays)(
    'such as %s are rejected with -32600 since 2025-06-18, and nothing runs [B043]',
    async (_, make) => {
      const { server, ran } = makeServer()
      const handle = sessionHandler(server)
      const outcomes: unknown[] = []
      for (const version of ['2025-06-18', '2025-11-25']) {
        const { send } = await openSession(handle, version)
        for (const stated of [undefined, version]) {
          const response = await send(make(add), { 'mcp-protocol-version': stated })
          outcomes.push([response.status, (await lastMessage(response)).error?.code])
        }
      }
      const modern = (): unknown =>
        modernRequest('tools/call', { name: 'add', arguments: { a: 1, b: 2 } })
      const response = await post(handle, make(modern), modernHeaders('tools/call', 'add'))
      outcomes.push([response.status, (await lastMessage(response)).error?.code])
      expect(outcomes).toEqual(Array(5).fill([400, -32600]))
      expect(ran).toEqual([])
    },
  )

  it('are served in 2025-03-26, except empty ones and those with initialize [B043]', async () => {
    const { server, ran } = makeServer()
    const { send } = await openSession(sessionHandler(server), '2025-03-26')
    const outcomes: unknown[] = []
    for (const [name, make] of arrays) {
      const response = await send(make(add))
      outcomes.push([name, response.status])
    }
    expect(outcomes).toEqual([
      ['[]', 400],
      ['[initialize]', 400],
      ['[call, call]', 200],
      ['[notification]', 202],
      ['[[]]', 200],
    ])
    expect(ran).toEqual(['add', 'add'])
  })

  it.each([['2026-07-28'], ['2025-11-25', '2026-07-28']] as const)(
    'are rejected if the server does not support 2025-03-26, with a session or without: %j [B043]',
    async (...revisions) => {
      const { server, ran } = makeServer({ revisions })
      const handle = sessionHandler(server, { sessions: false })
      for (const version of [undefined, ...revisions]) {
        const response = await post(handle, [add(1)], { 'mcp-protocol-version': version })
        expect([response.status, (await response.json()).error.code]).toEqual([400, -32600])
      }
      expect(ran).toEqual([])
    },
  )

  it('of which one id is in flight twice are refused before any of it runs [B043]', async () => {
    const { server, ran } = makeServer()
    const { send } = await openSession(sessionHandler(server), '2025-03-26')
    const response = await send([add(1), add(1)])
    expect([response.status, (await response.json()).error.code]).toEqual([400, -32600])
    expect(ran).toEqual([])
    expect((await send([add(1)])).status).toBe(200)
  })
})

describe('isolates that share nothing', () => {
  it('answer any request of a server without sessions, initialized there or not [B091]', async () => {
    const isolates = [1, 2].map(() => sessionHandler(makeServer().server, { sessions: false }))
    let turn = 0
    const pick = (): Handler => isolates[[0, 0, 1, 0, 1, 1, 1][turn++ % 7]!] as Handler
    const [a, b] = isolates as [Handler, Handler]
    expect((await post(a, init('2025-11-25'))).status).toBe(200)
    for (const headers of [{}, { 'mcp-session-id': 'whatever' }]) {
      expect((await lastMessage(await post(b, add(1), headers))).result).toBeDefined()
    }
    for (let n = 0; n < 20; n++) {
      expect((await post(pick(), list)).status).toBe(200)
      expect((await postModern(pick(), 'tools/list')).status).toBe(200)
    }
  })

  it('know no session of one another where sessions are in memory [B091]', async () => {
    const a = sessionHandler(makeServer().server)
    const b = sessionHandler(makeServer().server)
    const { id } = await openSession(a)
    expect((await post(b, list, { 'mcp-session-id': id })).status).toBe(404)
  })
})
