import { describe, expect, it, vi } from 'vitest'
import {
  createMemorySessionStore,
  createServer,
  statefulSessions,
  type Handler,
} from '../../../src/presets/server.ts'
import { sessionHandler } from '../../handler.ts'
import { makeServer } from '../../server/fixture.ts'
import { allMessages, initializeRequest, lastMessage, openSession, post } from './post.ts'
import { closing } from '../../closing.ts'

const URL = 'http://localhost/mcp'
const call = (id: number, name: string, params = {}): Record<string, unknown> => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: {}, ...params },
})

function serve(options = {}) {
  const made = makeServer()
  const handle = closing(sessionHandler(made.server, options))
  return { ...made, handle }
}

function listen(handle: Handler, id: string, headers = {}): Promise<Response> {
  return handle(
    new Request(URL, {
      headers: { accept: 'text/event-stream', 'mcp-session-id': id, ...headers },
    }),
  )
}

/** Reads events until one holds what is waited for, and returns all that were read so far. */
function readerOf(response: Response) {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const decoder = new TextDecoder()
  let text = ''
  const readUntil = async (wanted: string): Promise<string> => {
    while (!text.includes(wanted)) {
      const { value, done } = await reader.read()
      if (done) break
      text += decoder.decode(value, { stream: true })
    }
    return text
  }
  return { readUntil, cancel: () => reader.cancel() }
}

/** Reads events until one holds what is waited for, and closes the stream. */
async function readUntil(response: Response, wanted: string): Promise<string> {
  const events = readerOf(response)
  const text = await events.readUntil(wanted)
  await events.cancel()
  return text
}

/** The lists that changed, according to the events in a text. */
function changedLists(events: string): (string | undefined)[] {
  return [...events.matchAll(/notifications\/(\w+)\/list_changed/g)].map(([, list]) => list)
}

describe('sessions over HTTP', () => {
  it('have ids that are strong, of visible ASCII, and on the initialize response only [L-HTTP-048] [L-HTTP-049] [L-HTTP-051]', async () => {
    const { handle } = serve()
    const ids = new Set<string>()
    for (let n = 0; n < 100; n++) ids.add((await openSession(handle)).id)
    expect(ids.size).toBe(100)
    for (const id of ids) expect(id).toMatch(/^[!-~]{30,}$/)
    const { send } = await openSession(handle)
    const response = await send({ jsonrpc: '2.0', id: 1, method: 'ping' })
    expect(response.headers.has('mcp-session-id')).toBe(false)
  })

  it.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])(
    'have the requested version if it is supported: %s [L-LIFE-010]',
    async (protocolVersion) => {
      const { handle } = serve()
      const response = await post(handle, initializeRequest(protocolVersion))
      expect((await lastMessage(response)).result.protocolVersion).toBe(protocolVersion)
    },
  )

  it.each(['1999-01-01', '2099-01-01', '', '2026-07-28'])(
    'have the newest version with sessions if "%s" is requested [L-LIFE-011] [L-LIFE-012]',
    async (protocolVersion) => {
      const { handle } = serve()
      const response = await post(handle, initializeRequest(protocolVersion))
      expect((await lastMessage(response)).result.protocolVersion).toBe('2025-11-25')
    },
  )

  it.each(['protocolVersion', 'capabilities', 'clientInfo'])(
    'are not opened by initialize without %s, which is answered with -32602 [L-LIFE-002]',
    async (member) => {
      const { handle } = serve()
      const params: Record<string, unknown> = {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'c', version: '1' },
      }
      delete params[member]
      const response = await post(handle, { jsonrpc: '2.0', id: 1, method: 'initialize', params })
      expect((await lastMessage(response)).error.code).toBe(-32602)
    },
  )

  it('reject a second initialize, while one outside opens another session [L-LIFE-014]', async () => {
    const { handle } = serve()
    const { id, send } = await openSession(handle)
    expect((await lastMessage(await send(initializeRequest()))).error.code).toBe(-32600)
    expect((await openSession(handle)).id).not.toBe(id)
  })

  it('accept notifications and responses with 202 and nothing else [L-HTTP-012] [L-RPC-012] [L-RPC-016]', async () => {
    const { handle } = serve()
    const { send } = await openSession(handle)
    for (const message of [
      { jsonrpc: '2.0', method: 'notifications/unknown' },
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'none' } },
      { jsonrpc: '2.0', id: 99, result: {} },
      { jsonrpc: '2.0', id: 99, error: { code: 1, message: 'no' } },
    ]) {
      const response = await send(message)
      expect(response.status).toBe(202)
      expect(await response.text()).toBe('')
    }
  })

  it('keep their version if the header is absent [L-HTTP-067]', async () => {
    const { handle } = serve()
    const { send } = await openSession(handle, '2025-11-25')
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    expect(JSON.stringify((await lastMessage(await send(list))).result)).toContain('outputSchema')
  })

  it('answer with JSON, or with a stream from the first notification on [L-HTTP-014] [L-HTTP-025] [L-HTTP-028]', async () => {
    const { handle } = serve()
    const { send } = await openSession(handle)
    const plain = await send(call(1, 'add', { arguments: { a: 1, b: 2 } }))
    expect(plain.headers.get('content-type')).toBe('application/json')
    const streamed = await send(call(2, 'chat', { _meta: { progressToken: 0 } }))
    expect(streamed.headers.get('content-type')).toBe('text/event-stream')
    expect(streamed.headers.get('x-accel-buffering')).toBe('no')
    const messages = await allMessages(streamed)
    expect(messages.map((m) => ('method' in m ? m.method : m.id))).toEqual([
      'notifications/progress',
      'notifications/message',
      'notifications/progress',
      2,
    ])
    expect(messages[0]).toMatchObject({ params: { progressToken: 0 } })
  })

  it('begin a stream with an event without data in 2025-11-25 only [L-HTTP-018]', async () => {
    const { handle } = serve()
    for (const [version, primed] of [
      ['2025-11-25', true],
      ['2025-06-18', false],
      ['2025-03-26', false],
    ] as const) {
      const { send } = await openSession(handle, version)
      const text = await (await send(call(1, 'chat', { _meta: { progressToken: 1 } }))).text()
      expect(/^id: \S+\ndata: \n\n/.test(text)).toBe(primed)
    }
  })

  it('send only the response to a client that accepts only JSON', async () => {
    const { handle } = serve()
    const { send } = await openSession(handle)
    const response = await send(call(1, 'chat', { _meta: { progressToken: 1 } }), {
      accept: 'application/json',
    })
    expect(response.headers.get('content-type')).toBe('application/json')
    expect((await lastMessage(response)).result.content).toEqual([{ type: 'text', text: 'done' }])
  })

  it('ask the client on the stream of the call, and continue with its answer [L-HTTP-072]', async () => {
    const { handle } = serve()
    const { send } = await openSession(handle, '2025-11-25', { elicitation: {} })
    const response = await send(call(5, 'confirm', { arguments: { what: 'tea' } }))
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    const decoder = new TextDecoder()
    let text = ''
    let answered = false
    for (;;) {
      const { value, done } = await reader.read()
      if (done) break
      text += decoder.decode(value, { stream: true })
      const asked = /data: (.*"elicitation\/create".*)\n/.exec(text)
      if (!asked || answered) continue
      answered = true
      const { id } = JSON.parse(asked[1] as string) as { id: number }
      const answer = { jsonrpc: '2.0', id, result: { action: 'accept', content: { yes: true } } }
      expect((await send(answer)).status).toBe(202)
      expect((await send(answer)).status).toBe(202)
    }
    expect(text).toContain('bought: true')
  })

  it('send a message that belongs to no request on one of the open streams [L-HTTP-035] [L-HTTP-040]', async () => {
    const { handle, server } = serve()
    const { id } = await openSession(handle)
    const first = await listen(handle, id)
    const second = await listen(handle, id)
    expect(first.headers.get('content-type')).toBe('text/event-stream')
    server.tool('late', {}, () => 'late')
    await handle.close()
    const texts = [await first.text(), await second.text()]
    const count = texts.join('').split('notifications/tools/list_changed').length - 1
    expect(count).toBe(1)
  })

  it('keep each of several streams that open at the same time [L-HTTP-039]', async () => {
    const { handle } = serve()
    const { id } = await openSession(handle)
    const streams = await Promise.all([1, 2, 3].map(() => listen(handle, id)))
    const starts = await Promise.all(streams.map((stream) => readUntil(stream, 'data: \n\n')))
    for (const start of starts) expect(start).toMatch(/^id: \S+\ndata: \n\n$/)
    expect(new Set(starts).size).toBe(3)
  })

  it('continue a lost stream for its client, even if another stream was opened in the meantime [L-HTTP-040] [L-HTTP-044] [L-HTTP-045]', async () => {
    const { handle, server } = serve()
    const { id } = await openSession(handle)
    const lost = await readUntil(await listen(handle, id), 'data: \n\n')
    const lastEventId = /id: (\S+)/.exec(lost)?.[1] as string
    server.notify.toolsListChanged()
    const other = readerOf(await listen(handle, id))
    server.notify.promptsListChanged()
    await other.readUntil('prompts/list_changed')
    const resumed = readerOf(await listen(handle, id, { 'last-event-id': lastEventId }))
    server.notify.resourcesListChanged()
    await resumed.readUntil('resources/list_changed')
    await resumed.cancel()
    server.notify.toolsListChanged()
    const [otherText, resumedText] = await Promise.all([
      other.readUntil('tools/list_changed'),
      resumed.readUntil('nothing more'),
    ])
    // A store may send the first change only when the other stream is open
    const [otherLists, resumedLists] = [changedLists(otherText), changedLists(resumedText)]
    expect(resumedLists).toContain('resources')
    expect(resumedLists).not.toContain('prompts')
    expect(otherLists).toEqual(expect.arrayContaining(['prompts', 'tools']))
    expect(otherLists).not.toContain('resources')
    await other.cancel()
  })

  it('receive updates once they subscribed, and no longer after they unsubscribed', async () => {
    const { handle, server } = serve()
    const { id, send } = await openSession(handle)
    const stream = await listen(handle, id)
    const subscribe = (method: string): Promise<Response> =>
      send({ jsonrpc: '2.0', id: 1, method, params: { uri: 'note://one' } })
    const events = readerOf(stream)
    server.notify.resourceUpdated('note://one')
    // What follows a change arrives after it
    server.notify.toolsListChanged()
    await events.readUntil('notifications/tools/list_changed')
    await subscribe('resources/subscribe')
    server.notify.resourceUpdated('note://bytes')
    server.notify.resourceUpdated('note://one')
    await events.readUntil('notifications/resources/updated')
    await subscribe('resources/unsubscribe')
    server.notify.resourceUpdated('note://one')
    server.notify.promptsListChanged()
    const text = await events.readUntil('notifications/prompts/list_changed')
    expect(text.split('notifications/resources/updated').length - 1).toBe(1)
  })

  it('do not cancel a call whose connection drops, and resuming delivers the missed events, once and in order [L-HTTP-029] [L-HTTP-043] [L-HTTP-044] [L-HTTP-045] [B027]', async () => {
    const server = createServer({ name: 's', version: '1' })
    let release = (): void => {}
    const released = new Promise<void>((resolve) => (release = resolve))
    server.tool('slow', {}, async (_args, ctx) => {
      await ctx.progress(1)
      await released
      await ctx.progress(2)
      return 'finished'
    })
    const handle = sessionHandler(server)
    const { id, send } = await openSession(handle)
    const response = await send(call(1, 'slow', { _meta: { progressToken: 't' } }))
    const seen = await readUntil(response, '"progress":1')
    const lastEventId = [...seen.matchAll(/id: (\S+)/g)].at(-1)?.[1] as string
    const other = await send(call(2, 'slow', { _meta: { progressToken: 'u' } }))
    release()
    await other.text()
    const resumed = await listen(handle, id, { 'last-event-id': lastEventId })
    const messages = await allMessages(resumed)
    expect(messages).toMatchObject([
      { method: 'notifications/progress', params: { progressToken: 't', progress: 2 } },
      { id: 1, result: { content: [{ text: 'finished' }] } },
    ])
  })

  it('can resume a quiet stream, even if other streams are busy [I013]', async () => {
    const { server } = makeServer()
    const store = createMemorySessionStore({ maxEvents: 3 })
    const handle = sessionHandler(server, { sessions: statefulSessions({ store }) })
    const { id, send } = await openSession(handle)
    const idle = await listen(handle, id)
    const begun = /id: (\S+)/.exec(await readUntil(idle, 'data: \n\n'))?.[1] as string
    for (let n = 1; n <= 5; n++) {
      await (await send(call(n, 'chat', { _meta: { progressToken: n } }))).text()
    }
    const resumed = await listen(handle, id, { 'last-event-id': begun })
    expect(resumed.status).toBe(200)
    server.tool('late', {}, () => 'late')
    const text = await readUntil(resumed, 'list_changed')
    expect(text.startsWith(`id: ${begun}\ndata: \n\n`)).toBe(true)
    await handle.close()
  })

  it('answer an unknown event id, or one of another session, with 400, and reveal nothing [L-HTTP-047]', async () => {
    const { handle } = serve()
    const first = await openSession(handle)
    const second = await openSession(handle)
    const text = await (await first.send(call(1, 'chat', { _meta: { progressToken: 1 } }))).text()
    const eventId = /id: (\S+)/.exec(text)?.[1] as string
    expect((await listen(handle, second.id, { 'last-event-id': eventId })).status).toBe(400)
    expect((await listen(handle, first.id, { 'last-event-id': 'none' })).status).toBe(400)
  })

  it('belong to the principal that opened them [L-HTTP-062]', async () => {
    const { server } = makeServer()
    const handle = sessionHandler(server)
    const request = (principal: string, headers: Record<string, string>, body: unknown) =>
      handle(
        new Request(URL, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify(body),
        }),
        { principal },
      )
    const opened = await request('ada', {}, initializeRequest())
    const sid = { 'mcp-session-id': opened.headers.get('mcp-session-id') as string }
    const ping = { jsonrpc: '2.0', id: 2, method: 'ping' }
    expect((await request('ada', sid, ping)).status).toBe(200)
    expect((await request('eve', sid, ping)).status).toBe(404)
  })

  it('end when they are idle, and the oldest is evicted at the limit [L-HTTP-063]', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const { handle } = serve({ sessions: statefulSessions({ idleMs: 60_000, maxSessions: 2 }) })
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
    const first = await openSession(handle)
    await openSession(handle)
    await openSession(handle)
    expect((await first.send(ping)).status).toBe(404)
    const last = await openSession(handle)
    expect((await last.send(ping)).status).toBe(200)
    vi.advanceTimersByTime(60_001)
    expect((await last.send(ping)).status).toBe(404)
    vi.useRealTimers()
  })
})

describe('the end of a session', () => {
  it('answers running calls with an error, and requests after a close with 503', async () => {
    const { handle, ran } = serve()
    const { id, send } = await openSession(handle)
    const running = send(call(1, 'wait'))
    await expect.poll(() => ran).toContain('wait')
    await handle(new Request(URL, { method: 'DELETE', headers: { 'mcp-session-id': id } }))
    expect(await lastMessage(await running)).toMatchObject({ id: 1, error: { code: -32603 } })
    await handle.close()
    const late = await post(handle, initializeRequest())
    expect(late.status).toBe(503)
  })
})

describe('batches in 2025-03-26', () => {
  it('have each request answered, notifications accepted and errors reported [L-RPC-019] [L-RPC-021] [L-HTTP-016]', async () => {
    const { handle } = serve()
    const { send } = await openSession(handle, '2025-03-26')
    const response = await send([
      { jsonrpc: '2.0', id: 'a', method: 'ping' },
      { jsonrpc: '2.0', method: 'notifications/unknown' },
      { jsonrpc: '2.0', id: 'b', method: 'nope' },
      { jsonrpc: '1.0', id: 'c', method: 'ping' },
    ])
    const messages = (await response.json()) as { id: string; error?: { code: number } }[]
    const byId = Object.fromEntries(messages.map(({ id, error }) => [id, error?.code]))
    expect(byId).toEqual({ a: undefined, b: -32601, c: -32600 })
  })

  it('that are empty are answered with one -32600, and those of notifications with 202 [L-RPC-021]', async () => {
    const { handle } = serve()
    const { send } = await openSession(handle, '2025-03-26')
    const empty = await send([])
    expect([empty.status, (await lastMessage(empty)).error.code]).toEqual([400, -32600])
    const quiet = await send([{ jsonrpc: '2.0', method: 'notifications/unknown' }])
    expect([quiet.status, await quiet.text()]).toEqual([202, ''])
  })

  it('never contain initialize [L-LIFE-018]', async () => {
    const { handle } = serve()
    const { send } = await openSession(handle, '2025-03-26')
    const response = await send([initializeRequest('2025-03-26')])
    expect(response.status).toBe(400)
  })
})

describe('without sessions', () => {
  it('calls are answered in the version of the header, or as 2025-03-26 [L-HTTP-066] [L-HTTP-074]', async () => {
    const { handle } = serve({ sessions: false })
    const opened = await openSession(handle)
    expect(opened.id).toBe('')
    const add = call(1, 'add', { arguments: { a: 1, b: 2 } })
    const old = await lastMessage(await post(handle, add))
    expect(old.result.structuredContent).toBeUndefined()
    const batch = await post(handle, [add])
    expect(batch.status).toBe(200)
    const named = await post(handle, add, { 'mcp-protocol-version': '2025-11-25' })
    expect((await lastMessage(named)).result.structuredContent).toEqual({ sum: 3 })
  })

  it('offers no changes, and 405 for streams and their end [L-HTTP-034]', async () => {
    const { handle } = serve({ sessions: false })
    const response = await post(handle, initializeRequest())
    expect((await lastMessage(response)).result.capabilities).toMatchObject({ tools: {} })
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const refused = await handle(new Request(URL, { method }))
      expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'POST, OPTIONS'])
    }
  })

  it('an unsupported method is 405, for any Accept header [L-HTTP-034]', async () => {
    const headers = { accept: 'text/html' }
    const { handle: stateless } = serve({ sessions: false })
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const refused = await stateless(new Request(URL, { method, headers }))
      expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'POST, OPTIONS'])
    }
    const { handle: jsonOnly } = serve({ jsonOnly: true })
    for (const method of ['GET', 'PUT']) {
      expect((await jsonOnly(new Request(URL, { method, headers }))).status).toBe(405)
    }
  })

  it('a tool that asks a client which takes no streams says so at once', async () => {
    const { handle } = serve({})
    const { send } = await openSession(handle, '2025-11-25', { elicitation: {} })
    const asking = call(1, 'confirm', { arguments: { what: 'tea' } })
    const { result } = await lastMessage(await send(asking, { accept: 'application/json' }))
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('that needs an answer that is a stream') }],
    })
  })

  it.each([
    [
      '2025-11-25',
      '"tools/call" cannot ask the client: in revision 2025-11-25 that needs a stateful session',
    ],
    ['2025-03-26', 'Revision 2025-03-26 does not support "elicitation/create"'],
  ])('a tool that requests input in %s fails at once with the reason', async (version, text) => {
    const { handle } = serve({ sessions: false })
    const { result } = await lastMessage(
      await post(handle, call(1, 'confirm', { arguments: { what: 'tea' } }), {
        'mcp-protocol-version': version,
      }),
    )
    expect(result).toMatchObject({ isError: true, content: [{ type: 'text', text }] })
  })
})
