import { afterEach, describe, expect, test, vi } from 'vitest'
import type { JsonObject } from '../../src/protocol/types.ts'
import {
  connectTo,
  discovered,
  error,
  eventStream,
  httpPeer,
  modernPeer,
  result,
  until,
  type HttpPeer,
} from './peers.ts'
import { settled } from '../settled.ts'

const content = [{ type: 'text', text: 'hi' }]

afterEach(() => void vi.useRealTimers())

/** A tool whose input has one annotated argument. */
function annotated(name: string, annotation: unknown, type: unknown = 'string'): JsonObject {
  const inputSchema = {
    type: 'object',
    properties: { region: { type, 'x-mcp-header': annotation } },
  }
  return { name, inputSchema }
}

function toolsPeer(tools: JsonObject[]): HttpPeer {
  return modernPeer((request) =>
    result(request, request.message.method === 'tools/list' ? { tools } : { content }),
  )
}

describe('headers of 2026-07-28', () => {
  test('repeat version, method and name [M-HDR-001] [M-HDR-002] [M-HDR-010] [M-HDR-011] [M-HDR-012] [M-HDR-013] [M-HTTP-008] [M-HTTP-009] [M-HTTP-012] [M-HTTP-013]', async () => {
    const peer = modernPeer((request) =>
      result(request, { content, messages: [], contents: [], prompts: [] }),
    )
    const client = await connectTo(peer)
    await client.callTool('天気 x')
    await client.getPrompt('p')
    await client.readResource('file:///a%2Fb')
    await client.listAllPrompts()
    const rows = peer.requests.map(({ headers }) => [
      headers.get('mcp-method'),
      headers.get('mcp-name'),
    ])
    expect(rows).toEqual([
      ['server/discover', null],
      ['tools/call', '=?base64?5aSp5rCXIHg=?='],
      ['prompts/get', 'p'],
      ['resources/read', 'file:///a%2Fb'],
      ['prompts/list', null],
    ])
    for (const { headers, message, method } of peer.requests) {
      expect(method).toBe('POST')
      expect(headers.get('mcp-protocol-version')).toBe('2026-07-28')
      expect(headers.get('accept')).toBe('application/json, text/event-stream')
      expect(headers.has('mcp-session-id')).toBe(false)
      expect(message.params?._meta).toMatchObject({
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      })
    }
  })

  test('are sent with notifications too [M-HDR-075]', async () => {
    const peer = modernPeer(() => new Response(null, { status: 202 }))
    const client = await connectTo(peer)
    await client.notify('notifications/x', { a: 1 })
    expect(peer.requests.at(-1)?.headers.get('mcp-protocol-version')).toBe('2026-07-28')
    expect(peer.requests.at(-1)?.headers.get('mcp-method')).toBe('notifications/x')
  })

  test('never name a session, even if the server does; nothing is deleted [M-HTTP-047]', async () => {
    const peer = modernPeer((request) => result(request, { content }, { 'mcp-session-id': 's1' }))
    const client = await connectTo(peer)
    await client.callTool('a')
    await client.callTool('a')
    await client.close()
    expect(peer.requests.some(({ headers }) => headers.has('mcp-session-id'))).toBe(false)
    expect(peer.requests.every(({ method }) => method === 'POST')).toBe(true)
  })
})

describe('arguments in headers', () => {
  test('are repeated on every way to call a tool [M-HDR-031] [M-HDR-047] [M-HDR-059]', async () => {
    const peer = toolsPeer([annotated('a', 'Region')])
    const client = await connectTo(peer)
    await client.listAllTools()
    await client.callTool('a', { region: '日本語' })
    await client.request('tools/call', { name: 'a', arguments: { region: 'us' } })
    await client.callTool('a', { region: null })
    await client.callTool('a')
    expect(
      peer.received('tools/call').map(({ headers }) => headers.get('mcp-param-region')),
    ).toEqual(['=?base64?5pel5pys6Kqe?=', 'us', null, null])
  })

  test('that are badly annotated hide their tool, with a warning; others stay [M-HDR-042] [M-HDR-043] [M-HDR-044] [M-HDR-046]', async () => {
    const problems: string[] = []
    const peer = toolsPeer([annotated('bad', 'My Region'), annotated('good', 'Region')])
    const client = await connectTo(peer, { onError: (e) => problems.push(e.message) })
    const tools = await client.listAllTools()
    expect(tools.map((tool) => tool.name)).toEqual(['good'])
    expect(problems).toHaveLength(1)
    expect(problems[0]).toContain('"bad"')
    expect(problems[0]).toContain('My Region')
    await expect(client.callTool('bad')).rejects.toMatchObject({ code: 'INVALID_USE' })
    expect(peer.received('tools/call')).toHaveLength(0)
  })

  test('whose integer JSON does not carry fail locally [M-HDR-039]', async () => {
    const peer = toolsPeer([annotated('a', 'Region', 'integer')])
    const client = await connectTo(peer)
    await client.listAllTools()
    await expect(client.callTool('a', { region: 2 ** 53 })).rejects.toMatchObject({
      code: 'INVALID_USE',
    })
  })

  test('that the server requires are read from the list, once [M-HDR-055] [M-HDR-056] [M-HDR-058]', async () => {
    let annotation = 'Old'
    const peer = modernPeer((request) => {
      if (request.message.method === 'tools/list') {
        return result(request, {
          tools: [annotated('a', annotation)],
          ttlMs: 60_000,
          cacheScope: 'private',
        })
      }
      return request.headers.has(`mcp-param-${annotation.toLowerCase()}`)
        ? result(request, { content })
        : error(request, -32020, 400)
    })
    const client = await connectTo(peer)
    expect(await client.callTool('a', { region: 'x' })).toEqual({ content })
    annotation = 'New'
    expect(await client.callTool('a', { region: 'x' })).toEqual({ content })
    const ids = peer.received('tools/call').map(({ message }) => message.id)
    expect(new Set(ids).size).toBe(4)
    expect(peer.received('tools/list')).toHaveLength(2)
  })

  test('that the server keeps rejecting are abandoned [M-HDR-057]', async () => {
    const peer = modernPeer((request) =>
      request.message.method === 'tools/list'
        ? result(request, { tools: [] })
        : error(request, -32020, 400),
    )
    const client = await connectTo(peer)
    await expect(client.callTool('a')).rejects.toMatchObject({ code: -32020 })
    expect(peer.received('tools/call')).toHaveLength(2)
  })
})

describe('versions of a running client', () => {
  test('that the server drops are negotiated again, once [M-VER-006] [M-VER-008]', async () => {
    const peer = modernPeer((request) => error(request, -32022, 400, { supported: ['2027-01-01'] }))
    const client = await connectTo(peer)
    await expect(client.callTool('a')).rejects.toMatchObject({ code: -32022 })
    expect(peer.requests.map((request) => request.message.method)).toEqual([
      'server/discover',
      'tools/call',
      'server/discover',
      'tools/call',
    ])
  })

  test('of a server that no longer shares one are an error that names both sides [M-VER-007]', async () => {
    let update = false
    const peer = httpPeer((request) =>
      update
        ? error(request, -32022, 400, { supported: ['2027-01-01'] })
        : result(request, discovered()),
    )
    const client = await connectTo(peer)
    update = true
    await expect(client.callTool('a')).rejects.toMatchObject({
      code: 'VERSION_MISMATCH',
      message: expect.stringContaining('2027-01-01') as string,
    })
    expect(peer.received('tools/call')).toHaveLength(1)
  })
})

describe('streams of 2026-07-28', () => {
  test('are closed to cancel, and nothing is posted [M-HTTP-038] [M-CANC-001]', async () => {
    const stream = eventStream()
    const peer = modernPeer(() => stream.response)
    const client = await connectTo(peer)
    const controller = new AbortController()
    const call = client.callTool('a', {}, { signal: controller.signal })
    await until(() => peer.received('tools/call').length === 1)
    controller.abort()
    await expect(call).rejects.toMatchObject({ code: 'ABORTED' })
    expect(peer.received('tools/call')[0]?.signal.aborted).toBe(true)
    await until(() => stream.cancelled)
    await client.close()
    expect(peer.requests).toHaveLength(2)
  })

  test('that time out are closed too [M-CANC-012] [M-CANC-013]', async () => {
    const stream = eventStream()
    const peer = modernPeer(() => stream.response)
    const client = await connectTo(peer)
    await expect(client.callTool('a', {}, { timeoutMs: 20 })).rejects.toMatchObject({
      code: 'TIMEOUT',
    })
    await until(() => stream.cancelled)
    expect(peer.requests).toHaveLength(2)
  })

  test('that break fail the call at once and are not resumed [M-HTTP-033] [M-HTTP-034] [M-HTTP-032]', async () => {
    for (const end of ['end', 'fail'] as const) {
      const peer = modernPeer(() => {
        const stream = eventStream()
        stream.write('id: 1\nretry: 1\ndata:\n\n')
        void settled().then(() => stream[end]())
        return stream.response
      })
      const client = await connectTo(peer)
      await expect(client.callTool('a')).rejects.toMatchObject({ code: 'NETWORK' })
      expect(peer.requests.every(({ method }) => method === 'POST')).toBe(true)
      expect(peer.received('tools/call')).toHaveLength(1)
      await client.close()
    }
  })

  test('that break during a list are sent again, with a new id [M-HTTP-033] [M-HTTP-034]', async () => {
    let first = true
    const peer = modernPeer((request) => {
      if (!first) return result(request, { tools: [] })
      first = false
      const stream = eventStream()
      stream.end()
      return stream.response
    })
    const client = await connectTo(peer)
    expect(await client.listAllTools()).toEqual([])
    const [one, two] = peer.received('tools/list')
    expect(one?.message.id).not.toBe(two?.message.id)
    await client.close()
  })

  test('bring log messages to their call and to the client [M-LOG-014]', async () => {
    const peer = modernPeer((request) => {
      const stream = eventStream()
      const params = { level: 'info', logger: request.message.params?.name, data: null }
      stream.event({ jsonrpc: '2.0', method: 'notifications/message', params })
      stream.event({ jsonrpc: '2.0', id: request.message.id, result: { content } })
      stream.end()
      return stream.response
    })
    const all: unknown[] = []
    const client = await connectTo(peer, { onLog: ({ logger }) => all.push(logger) })
    const mine: unknown[] = []
    await Promise.all([
      client.callTool('a', {}, { onLog: ({ logger }) => mine.push(logger), logLevel: 'info' }),
      client.callTool('b', {}, { logLevel: 'info' }),
    ])
    expect(mine).toEqual(['a'])
    expect(new Set(all)).toEqual(new Set(['a', 'b']))
    expect(all).toHaveLength(2)
    await client.close()
  })

  test('may carry messages that answer no request [M-COMPAT-034]', async () => {
    const problems: string[] = []
    const peer = modernPeer((request) => {
      const stream = eventStream()
      stream.event({ jsonrpc: '2.0', id: 1, method: 'roots/list' })
      stream.event({ jsonrpc: '2.0', id: request.message.id, result: { content } })
      return stream.response
    })
    const client = await connectTo(peer, { roots: [], onError: (e) => problems.push(e.message) })
    await client.callTool('a')
    expect(problems).toHaveLength(1)
    expect(peer.requests.every(({ message }) => message.method)).toBe(true)
    await client.close()
  })
})
