// Worker and objects of different versions, as during a deployment: the formats are those of commit
// 57fd68c.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { initializeRequest, lastMessage } from '../../transport/streamable-http/post.ts'
import { bundleWorker, startWorker, type Workerd } from './workerd.ts'

let workerd: Workerd
const start = (file: string) => async () => {
  workerd = await startWorker(await bundleWorker(file))
}
const JSON_BODY = {
  accept: 'application/json, text/event-stream',
  'content-type': 'application/json',
}

const post = (path: string, message: object, headers: Record<string, string> = {}) =>
  workerd.handle(
    new Request(`http://host${path}`, {
      method: 'POST',
      headers: { ...JSON_BODY, ...headers },
      body: JSON.stringify(message),
    }),
  )

const get = (path: string, headers: Record<string, string>) =>
  workerd.handle(new Request(`http://host${path}`, { headers }))

describe('Objects behind a Worker of the previous version', () => {
  beforeAll(start('previous-worker.ts'))
  afterAll(() => workerd.stop())

  const ADA = encodeURIComponent(
    '{"principal":"ada","auth":{"subject":"ada","scopes":["read"]},"shared":true}',
  )
  const open = async (caller: Record<string, string> = {}): Promise<string> => {
    const opened = await post('/', initializeRequest('2025-11-25'), caller)
    return opened.headers.get('mcp-session-id') ?? ''
  }

  it('learn who calls, and that the session shares its object', async () => {
    const caller = { 'edgewise-caller': ADA }
    const opened = await post('/', initializeRequest('2025-11-25'), caller)
    const sessionId = opened.headers.get('mcp-session-id') ?? ''
    expect(sessionId).toMatch(/^[\da-f]{64}\.[\da-f-]{36}$/)
  })

  it('pass the authorization on to handlers', async () => {
    const caller = { 'edgewise-caller': encodeURIComponent('{"principal":"ada","auth":{"n":1}}') }
    const id = await open(caller)
    const params = { name: 'who', arguments: {} }
    const call = { jsonrpc: '2.0', id: 2, method: 'tools/call', params }
    const { result } = await lastMessage(await post('/', call, { ...caller, 'mcp-session-id': id }))
    expect(result).toHaveProperty('content.0.text', '["ada",{"n":1}]')
    const stranger = await post('/', call, { 'mcp-session-id': id })
    expect(stranger.status).toBe(404)
  })

  it('name the stream of a session, which the hub then opens', async () => {
    const id = await open()
    const listening = await get('/', {
      accept: 'text/event-stream',
      'mcp-session-id': id,
    })
    const named = listening.headers.get('edgewise-session') ?? ''
    expect(JSON.parse(decodeURIComponent(named))).toEqual({ session: id, primed: true })
    const account = { 'edgewise-account': '00ff' }
    const stream = await get('/hub?messages=1', { 'edgewise-session': named, ...account })
    const { status, messages } = (await stream.json()) as { status: number; messages: string[] }
    expect(status).toBe(101)
    expect(messages[0]).toMatch(/^\.\{"id":"[\da-f]{8}_\d+","data":""\}$/)
  })

  it('send the rest of a stream in pieces that begin with "+" or "."', async () => {
    const id = await open()
    const params = { name: 'count', arguments: {}, _meta: { progressToken: 1 } }
    const call = { jsonrpc: '2.0', id: 2, method: 'tools/call', params }
    const text = await (await post('/', call, { 'mcp-session-id': id })).text()
    const [, event = ''] = /^id: (.+)$/m.exec(text) ?? []
    const resumed = await get('/?messages=2', {
      accept: 'text/event-stream',
      'mcp-session-id': id,
      'last-event-id': event,
    })
    const { messages } = (await resumed.json()) as { messages: string[] }
    expect(messages[0]).toBe(`.{"id":"${event}","data":""}`)
    expect(JSON.parse(messages[1]?.slice(1) ?? '')).toMatchObject({
      data: expect.stringContaining('notifications/progress'),
    })
  })
})

describe('A Worker before objects of the previous version', () => {
  beforeAll(start('previous-object.ts'))
  afterAll(() => workerd.stop())

  it('sends the caller in the header that they read', async () => {
    const headers = { 'x-user': 'ada', 'x-key': 'team', 'edgewise-caller': 'forged' }
    const opened = await post('/mcp', initializeRequest('2025-11-25'), headers)
    const { result } = await lastMessage(opened)
    const { 'edgewise-caller': caller } = (result as { asked: Record<string, string> }).asked
    expect(decodeURIComponent(caller ?? '')).toBe(
      '{"principal":"ada","auth":{"subject":"ada"},"shared":true}',
    )
    const anonymous = await lastMessage(await post('/mcp', initializeRequest('2025-11-25')))
    expect((anonymous.result as { asked: object }).asked).not.toHaveProperty('edgewise-caller')
  })

  it('opens the stream of a session that they name', async () => {
    const opened = await post('/mcp', initializeRequest('2025-11-25'))
    const id = opened.headers.get('mcp-session-id') ?? ''
    const stream = await get('/mcp', { accept: 'text/event-stream', 'mcp-session-id': id })
    expect(stream.headers.get('content-type')).toBe('text/event-stream')
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader()
    expect((await reader?.read())?.value).toMatch(/^id: [\da-f]{8}_\d+\ndata: \n\n$/)
    await reader?.cancel()
  })

  it('makes a stream of what they send in pieces', async () => {
    const opened = await post('/mcp', initializeRequest('2025-11-25'))
    const id = opened.headers.get('mcp-session-id') ?? ''
    const resumed = await get('/mcp', {
      accept: 'text/event-stream',
      'mcp-session-id': id,
      'last-event-id': 'c037c180_3',
    })
    expect(await resumed.text()).toContain(
      'id: c037c180_4\ndata: {"jsonrpc":"2.0","id":3,"result":{}}\n\n',
    )
  })
})
