import { describe, expect, it } from 'vitest'
import { createServer, statefulSessions, text, type Handler } from '../../../src/presets/server.ts'
import { sessionHandler } from '../../handler.ts'
import { revisions } from '../../../src/protocol/revisions.ts'
import { until } from '../../client/peers.ts'
import { makeServer } from '../../server/fixture.ts'
import { allMessages, lastMessage, openSession, post, postRaw } from './post.ts'

const LEGACY = revisions.filter(({ era }) => era === 'legacy').map(({ version }) => version)
const EVENTS = { accept: 'text/event-stream' }
const URL = 'http://localhost/mcp'

const get = (handle: Handler, headers: Record<string, string>, principal?: string) =>
  handle(new Request(URL, { headers: { ...EVENTS, ...headers } }), { principal })

/** The lines of data on a stream so far. */
function follow(response: Response): { data: string[]; cancel: () => Promise<void> } {
  const data: string[] = []
  const reader = response.body!.getReader()
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder()
    let rest = ''
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      const lines = (rest + decoder.decode(next.value, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      data.push(...lines.filter((line) => /^data: ./.test(line)).map((line) => line.slice(6)))
    }
  }
  void read()
  return { data, cancel: () => reader.cancel() }
}

describe.each(LEGACY)('one URL in %s', (revision) => {
  it('accepts messages and opens streams [L-HTTP-001]', async () => {
    const handle = sessionHandler(makeServer().server)
    const { id, send } = await openSession(handle, revision)
    const answer = await send({ jsonrpc: '2.0', id: 1, method: 'ping' })
    expect((await lastMessage(answer)).result).toEqual({})
    const stream = await get(handle, { 'mcp-session-id': id })
    expect(stream.status).toBe(200)
    expect(stream.headers.get('content-type')).toBe('text/event-stream')
    await handle.close()
  })

  it('reads the header of the session in any case [L-HTTP-054]', async () => {
    const handle = sessionHandler(makeServer().server)
    const { id } = await openSession(handle, revision)
    for (const name of ['Mcp-Session-Id', 'MCP-Session-Id', 'mcp-session-id', 'MCP-SESSION-ID']) {
      const answer = await post(handle, { jsonrpc: '2.0', id: 1, method: 'ping' }, { [name]: id })
      expect((await lastMessage(answer)).result).toEqual({})
    }
    await handle.close()
  })

  it('answers notifications that cannot be taken with an error, never with 202 [L-HTTP-013]', async () => {
    const handle = sessionHandler(makeServer().server)
    const { id } = await openSession(handle, revision)
    const method = 'notifications/cancelled'
    const notification = JSON.stringify({ jsonrpc: '2.0', method, params: { requestId: 1 } })
    const reply = JSON.stringify({ jsonrpc: '2.0', id: 1, result: {} })
    const known = { 'mcp-session-id': id }
    const wrong: [string, Record<string, string>, number][] = [
      [notification.slice(1), known, 400],
      [notification.replace('2.0', '1.0'), known, 400],
      [notification.replace('{"requestId":1}', '[]'), known, 400],
      [notification, { 'mcp-session-id': 'unknown' }, 404],
      [notification, { ...known, 'mcp-protocol-version': '1999-01-01' }, 400],
      [reply, { 'mcp-session-id': 'unknown' }, 404],
      [reply.replace('{}', '7'), known, 400],
      [reply, { ...known, 'mcp-protocol-version': 'x' }, 400],
    ]
    for (const [body, headers, status] of wrong) {
      expect((await postRaw(handle, body, headers)).status, body).toBe(status)
    }
    expect((await postRaw(handle, notification, known)).status).toBe(202)
    await handle.close()
  })

  it('answers calls on their own streams, even if others are open [L-HTTP-036]', async () => {
    const server = createServer({ name: 's', version: '1' })
    server.tool('work', {}, async (_args, ctx) => {
      await ctx.progress(1)
      return text('done')
    })
    const handle = sessionHandler(server)
    const { id, send } = await openSession(handle, revision)
    const streams = [0, 1].map(async () => follow(await get(handle, { 'mcp-session-id': id })))
    const open = await Promise.all(streams)
    const params = { name: 'work', _meta: { progressToken: 't' } }
    const call = { jsonrpc: '2.0', id: 7, method: 'tools/call', params }
    const messages = await allMessages(await send(call))
    expect(messages.map((message) => ('method' in message ? message.method : message.id))).toEqual([
      'notifications/progress',
      7,
    ])
    server.notify.toolsListChanged()
    await until(() => open.some(({ data }) => data.length > 0))
    const elsewhere = open.flatMap(({ data }) => data).map((line) => JSON.parse(line))
    expect(elsewhere).toEqual([{ jsonrpc: '2.0', method: 'notifications/tools/list_changed' }])
    await handle.close()
  })

  it('passes unknown _meta on to handlers [L-COM-001]', async () => {
    const server = createServer({ name: 's', version: '1' })
    const seen: unknown[] = []
    server.tool('a', {}, (_args, ctx) => {
      seen.push(ctx.meta)
      return 'a'
    })
    const { send } = await openSession(sessionHandler(server), revision)
    const _meta = { 'io.modelcontextprotocol/unknown': [7], 'dev.mcp/x': null, progressToken: 1 }
    const params = { name: 'a', _meta }
    await send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
    expect(seen).toEqual([_meta])
  })
})

describe('ids of sessions', () => {
  it('cannot be predicted from others [L-HTTP-050]', async () => {
    const handle = sessionHandler(makeServer().server, {
      sessions: statefulSessions({ maxSessions: 300 }),
    })
    const ids: string[] = []
    for (let n = 0; n < 200; n++) ids.push((await openSession(handle)).id)
    expect(new Set(ids).size).toBe(200)
    // Places that hold random digits show nearly all 16 of them; a counter or a clock shows few
    const places = Array.from(ids[0]!, (_, at) => new Set(ids.map((one) => one[at])).size)
    expect(places.filter((digits) => digits > 12).length).toBeGreaterThanOrEqual(28)
    expect(ids.toSorted()).not.toEqual(ids)
    await handle.close()
  })
})

describe('a batch of 2025-03-26', () => {
  it('is of calls or of responses, never of both [L-HTTP-011]', async () => {
    const handle = sessionHandler(makeServer().server)
    const { send } = await openSession(handle, '2025-03-26')
    const request = { jsonrpc: '2.0', id: 1, method: 'ping' }
    const notification = { jsonrpc: '2.0', method: 'notifications/x' }
    const response = { jsonrpc: '2.0', id: 1, result: {} }
    expect((await send(request)).status).toBe(200)
    expect((await send([request, notification])).status).toBe(200)
    expect((await send([notification])).status).toBe(202)
    expect((await send([response, { ...response, id: 2 }])).status).toBe(202)
    for (const mixed of [
      [request, response],
      [response, notification],
    ]) {
      expect((await send(mixed)).status).toBe(400)
    }
    await handle.close()
  })
})

describe('a question to the user', () => {
  const asking = async () => {
    const { server } = makeServer()
    const handle = sessionHandler(server)
    const capabilities = { elicitation: { form: {} } }
    const as = (principal: string) =>
      Object.assign((request: Request) => handle(request, { principal }), handle)
    const ada = await openSession(as('ada'), '2025-11-25', capabilities)
    const params = { name: 'confirm', arguments: { what: 'tea' } }
    const response = await ada.send({ jsonrpc: '2.0', id: 9, method: 'tools/call', params })
    const stream = follow(response)
    await until(() => stream.data.length > 0)
    const { id } = JSON.parse(stream.data[0]!) as { id: number }
    const content = { yes: true }
    const answer = { jsonrpc: '2.0', id, result: { action: 'accept', content } }
    return { handle, as, ada, stream, answer, capabilities }
  }

  it('is answered in its own session and by its own user only [L-ELIC-032] [L-ELIC-033] [L-ELIC-039]', async () => {
    const { handle, as, ada, stream, answer, capabilities } = await asking()
    const bob = await openSession(as('bob'), '2025-11-25', capabilities)
    const other = await openSession(as('ada'), '2025-11-25', capabilities)
    expect((await bob.send(answer)).status).toBe(202)
    expect((await other.send(answer)).status).toBe(202)
    const stolen = await post(as('bob'), answer, { 'mcp-session-id': ada.id })
    expect(stolen.status).toBe(404)
    const nameless = await post(handle, answer, { 'mcp-session-id': ada.id })
    expect(nameless.status).toBe(404)
    expect(stream.data).toHaveLength(1)
    expect((await ada.send(answer)).status).toBe(202)
    await until(() => stream.data.length === 2)
    expect(JSON.parse(stream.data[1]!)).toMatchObject({
      id: 9,
      result: { content: [{ text: 'bought: true' }] },
    })
    await handle.close()
  })
})

describe('the clientInfo of a client', () => {
  it('does not authenticate it [L-ELIC-050]', async () => {
    const server = createServer({ name: 's', version: '1' })
    const seen: unknown[] = []
    server.tool('who', {}, (_args, ctx) => {
      seen.push(ctx.principal)
      return 'x'
    })
    const handle = sessionHandler(server)
    const clientInfo = { name: 'admin', version: '1', title: 'admin', principal: 'admin' }
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo,
      principal: 'admin',
    }
    const opened = await post(handle, { jsonrpc: '2.0', id: 1, method: 'initialize', params })
    const id = opened.headers.get('mcp-session-id') ?? ''
    const _meta = { principal: 'admin' }
    const call = { name: 'who', arguments: {}, _meta, principal: 'admin' }
    await post(
      handle,
      { jsonrpc: '2.0', id: 2, method: 'tools/call', params: call },
      { 'mcp-session-id': id },
    )
    expect(seen).toEqual([undefined])
    await handle.close()
  })
})

describe('a session that is not there', () => {
  const PING = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })

  it('is answered with 404 before the body is looked at [L-HTTP-056]', async () => {
    const handle = sessionHandler(makeServer().server, { maxBodyBytes: 10 })
    const known = { 'mcp-session-id': 'unknown' }
    expect((await postRaw(handle, PING, known)).status).toBe(404)
    const typed = { ...known, 'content-type': 'text/plain' }
    expect((await postRaw(handle, PING, typed)).status).toBe(404)
    await handle.close()
  })

  it('as it ended while the body of a request came, is answered with 404', async () => {
    const handle = sessionHandler(makeServer().server)
    for (const text of [PING, PING.replace('"id":1,', '').replace('ping', 'notifications/x')]) {
      const { id } = await openSession(handle)
      const headers = {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-session-id': id,
      }
      const { readable, writable } = new TransformStream<Uint8Array>()
      const init = { method: 'POST', headers, body: readable, duplex: 'half' }
      const answer = handle(new Request(URL, init))
      const writer = writable.getWriter()
      await writer.write(new TextEncoder().encode(text.slice(0, 10)))
      const ended = await handle(new Request(URL, { method: 'DELETE', headers }))
      expect(ended.status).toBe(200)
      await writer.write(new TextEncoder().encode(text.slice(10)))
      await writer.close()
      expect((await answer).status, text).toBe(404)
    }
    await handle.close()
  })
})
