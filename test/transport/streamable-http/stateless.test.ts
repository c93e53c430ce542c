import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { META_CLIENT_INFO, META_LOG_LEVEL, META_SERVER_INFO } from '../../../src/protocol/meta.ts'
import { createServer, json, text } from '../../../src/presets/server.ts'
import { sessionHandler } from '../../handler.ts'
import { makeServer } from '../../server/fixture.ts'
import {
  allMessages,
  lastMessage,
  modernHeaders,
  modernRequest,
  openSession,
  post,
  postModern,
} from './post.ts'

const VERSION = 'io.modelcontextprotocol/protocolVersion'
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'

async function codes(response: Response): Promise<[number, number | undefined]> {
  return [response.status, (await lastMessage(response)).error?.code]
}

describe('a stateless request', () => {
  const { server, ran } = makeServer()
  const handle = sessionHandler(server)
  const list = modernRequest('tools/list')
  const headers = modernHeaders('tools/list')

  it('is answered without a handshake, by a handler that never saw the client [M-HTTP-055] [M-VER-014]', async () => {
    const fresh = sessionHandler(server)
    const response = await postModern(fresh, 'tools/call', {
      name: 'add',
      arguments: { a: 1, b: 2 },
    })
    expect(response.status).toBe(200)
    expect(response.headers.has('mcp-session-id')).toBe(false)
    expect((await lastMessage(response)).result).toMatchObject({
      resultType: 'complete',
      structuredContent: { sum: 3 },
      _meta: { [META_SERVER_INFO]: { name: 'fixture', version: '1.0.0' } },
    })
  })

  it.each([
    'server/discover',
    'tools/list',
    'resources/list',
    'resources/templates/list',
    'prompts/list',
  ])(
    'to %s is answered with its type, the server and caching hints [M-BASE-009] [M-META-019] [M-DISC-003]',
    async (method) => {
      const { result } = await lastMessage(await postModern(handle, method))
      expect(result).toMatchObject({ resultType: 'complete', ttlMs: 0, cacheScope: 'private' })
      expect(result._meta).toHaveProperty([META_SERVER_INFO, 'name'], 'fixture')
    },
  )

  it('to discover is answered with every version, the capabilities and the instructions [M-DISC-002] [M-DISC-004]', async () => {
    const { result } = await lastMessage(await postModern(handle, 'server/discover'))
    expect(result.supportedVersions).toEqual([
      '2026-07-28',
      '2025-11-25',
      '2025-06-18',
      '2025-03-26',
      '2024-11-05',
    ])
    expect(result.instructions).toBe('Use wisely')
    expect(result.capabilities).toMatchObject({ tools: {}, completions: {}, logging: {} })
  })

  it.each([
    ['without the version header', { 'mcp-protocol-version': undefined }, -32020],
    ['with another version in the header', { 'mcp-protocol-version': '2025-11-25' }, -32020],
    ['with an unknown version in the header', { 'mcp-protocol-version': '1900-01-01' }, -32020],
    ['without Mcp-Method', { 'mcp-method': undefined }, -32020],
    ['with another Mcp-Method', { 'mcp-method': 'tools/call' }, -32020],
    ['with Mcp-Method in another case', { 'mcp-method': 'TOOLS/LIST' }, -32020],
  ])(
    '%s is answered with 400 [M-HDR-003] [M-HDR-006] [M-HDR-007] [M-HDR-009] [M-HDR-014] [M-HDR-016] [M-HDR-021]',
    async (_how, changed, code) => {
      const response = await post(handle, list, { ...headers, ...changed })
      const { error, id } = await lastMessage(response)
      expect([response.status, error.code, id]).toEqual([400, code, 1])
    },
  )

  it.each([
    ['no params', undefined],
    ['no _meta', {}],
    ['no version', { _meta: { [CAPABILITIES]: {} } }],
    ['no capabilities', { _meta: { [VERSION]: '2026-07-28' } }],
    ['a numeric version', { _meta: { [VERSION]: 1, [CAPABILITIES]: {} } }],
    ['capabilities that are a list', { _meta: { [VERSION]: '2026-07-28', [CAPABILITIES]: [] } }],
    ['capabilities that are text', { _meta: { [VERSION]: '2026-07-28', [CAPABILITIES]: 'x' } }],
    [
      'a client without a name',
      { _meta: { [VERSION]: '2026-07-28', [CAPABILITIES]: {}, [META_CLIENT_INFO]: {} } },
    ],
    [
      'an unknown log level',
      { _meta: { [VERSION]: '2026-07-28', [CAPABILITIES]: {}, [META_LOG_LEVEL]: 'loud' } },
    ],
  ])(
    'with %s is answered with 400 and -32602 [M-META-006] [M-META-007] [M-META-008] [M-META-009] [M-META-010] [M-HDR-008] [M-META-012]',
    async (_what, params) => {
      const response = await post(handle, { ...list, params }, headers)
      expect(await codes(response)).toEqual([400, -32602])
    },
  )

  it('of an unsupported version is answered with 400 and -32022, before anything else [M-VER-002] [M-VER-004] [M-VER-005] [M-VER-012] [M-VER-013] [M-HDR-004]', async () => {
    const params = { _meta: { [VERSION]: '2099-01-01', [CAPABILITIES]: {} } }
    const response = await post(
      handle,
      { ...list, method: 'no/such', params },
      { ...headers, 'mcp-protocol-version': '2099-01-01' },
    )
    const { error } = await lastMessage(response)
    expect([response.status, error.code]).toEqual([400, -32022])
    const discovered = await lastMessage(await postModern(handle, 'server/discover'))
    expect(error.data).toEqual({
      supported: discovered.result.supportedVersions,
      requested: '2099-01-01',
    })
  })

  it('of a version that is switched off is answered with 400 and -32022 too [M-VER-003]', async () => {
    const legacy = createServer({ name: 's', version: '1' }, { revisions: ['2025-11-25'] })
    const response = await postModern(sessionHandler(legacy), 'server/discover')
    const { error } = await lastMessage(response)
    expect([response.status, error.code, error.data]).toEqual([
      400,
      -32022,
      { supported: ['2025-11-25'], requested: '2026-07-28' },
    ])
  })

  it.each([
    'ping',
    'initialize',
    'logging/setLevel',
    'resources/subscribe',
    'resources/unsubscribe',
  ])(
    'for %s, which no longer exists, is answered with 404 and -32601 [M-HTTP-048] [M-SUB-049]',
    async (method) => {
      expect(await codes(await postModern(handle, method, { uri: 'note://one' }))).toEqual([
        404, -32601,
      ])
    },
  )

  it('whose feature the server lacks is answered with 404 and -32601 [M-DISC-009]', async () => {
    const bare = sessionHandler(createServer({ name: 'bare', version: '1' }))
    for (const method of ['tools/list', 'prompts/list', 'resources/list', 'completion/complete']) {
      expect(await codes(await postModern(bare, method))).toEqual([404, -32601])
    }
    expect(await codes(await postModern(bare, 'server/discover'))).toEqual([200, undefined])
  })

  it('ignores a session id [M-HTTP-046]', async () => {
    const { id } = await openSession(handle)
    for (const sid of [id, 'never-was']) {
      const response = await post(handle, list, { ...headers, 'mcp-session-id': sid })
      expect(response.status).toBe(200)
      expect(response.headers.has('mcp-session-id')).toBe(false)
    }
  })

  it('that is a response is rejected, and a notification is accepted [M-BASE-042] [M-HTTP-015] [M-HDR-074]', async () => {
    const version = { 'mcp-protocol-version': '2026-07-28' }
    const response = await post(handle, { jsonrpc: '2.0', id: 1, result: {} }, version)
    expect(response.status).toBe(400)
    const note = await post(handle, { jsonrpc: '2.0', method: 'notifications/x' }, version)
    expect([note.status, await note.text()]).toEqual([202, ''])
  })

  it.each([
    [undefined, -32020],
    ['other', -32020],
    ['ADD', -32020],
    ['=?base64?YWRk?=', undefined],
    ['  add ', undefined],
    ['=?base64?YWR?=', -32020],
    ['=?BASE64?YWRk?=', -32020],
  ])(
    'has its header Mcp-Name, such as %j, compared with the tool "add" [M-HDR-015] [M-HDR-017] [M-HDR-018] [M-HDR-022] [M-HDR-025] [M-HDR-026] [M-HDR-028] [M-HDR-030]',
    async (name, code) => {
      const before = ran.length
      const response = await post(
        handle,
        modernRequest('tools/call', { name: 'add', arguments: { a: 1, b: 2 } }),
        { ...modernHeaders('tools/call'), 'mcp-name': name },
      )
      expect(await codes(response)).toEqual([code ? 400 : 200, code])
      expect(
        ran.length - before,
        'the handler runs only when the headers are right [M-HDR-019]',
      ).toBe(code ? 0 : 1)
    },
  )

  it('sends progress and logs only on request', async () => {
    const quiet = await postModern(handle, 'tools/call', { name: 'chat' })
    expect(quiet.headers.get('content-type')).toBe('application/json')
    const loud = await postModern(handle, 'tools/call', {
      name: 'chat',
      _meta: { progressToken: 'p', [META_LOG_LEVEL]: 'info' },
    })
    const messages = await allMessages(loud)
    expect(messages.map((m) => ('method' in m ? m.method : 'response'))).toEqual([
      'notifications/progress',
      'notifications/message',
      'notifications/progress',
      'response',
    ])
    const strict = await postModern(handle, 'tools/call', {
      name: 'chat',
      _meta: { [META_LOG_LEVEL]: 'warning' },
    })
    expect(strict.headers.get('content-type')).toBe('application/json')
  })

  it('to listen is answered with 406 if no stream can be sent', async () => {
    const request = modernRequest('subscriptions/listen', { notifications: {} })
    const wanted = modernHeaders('subscriptions/listen')
    const json = await post(handle, request, { ...wanted, accept: 'application/json' })
    expect(json.status).toBe(406)
    const only = sessionHandler(server, { jsonOnly: true })
    expect((await post(only, request, wanted)).status).toBe(406)
  })

  it('to listen is answered with a stream: the acknowledgement, changes, the closing result [M-SUB-031] [M-SUB-032]', async () => {
    const made = makeServer()
    const listening = sessionHandler(made.server)
    const response = await postModern(listening, 'subscriptions/listen', {
      notifications: { toolsListChanged: true },
    })
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    made.server.tool('late', {}, () => text('x'))
    await listening.close()
    const messages = await allMessages(response)
    expect(messages).toMatchObject([
      { method: 'notifications/subscriptions/acknowledged' },
      { method: 'notifications/tools/list_changed' },
      { id: 1, result: { resultType: 'complete' } },
    ])
  })

  it('is cancelled when its stream is closed [M-HTTP-035] [M-HTTP-036]', async () => {
    const stopping = createServer({ name: 's', version: '1' })
    const events: string[] = []
    stopping.tool('work', {}, async (_args, ctx) => {
      await ctx.progress(1)
      await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
      events.push('aborted')
      await ctx.progress(2)
      return 'late'
    })
    const response = await postModern(sessionHandler(stopping), 'tools/call', {
      name: 'work',
      _meta: { progressToken: 1 },
    })
    await response.body?.cancel()
    await expect.poll(() => events).toEqual(['aborted'])
  })

  it('is cancelled when the connection is dropped before any answer [M-HTTP-039]', async () => {
    const controller = new AbortController()
    const before = ran.filter((name) => name === 'aborted').length
    const request = modernRequest('tools/call', { name: 'wait' })
    void handle(
      new Request('http://localhost/mcp', {
        method: 'POST',
        signal: controller.signal,
        headers: {
          'content-type': 'application/json',
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'tools/call',
          'mcp-name': 'wait',
        },
        body: JSON.stringify(request),
      }),
    )
    await expect.poll(() => ran.at(-1)).toBe('wait')
    controller.abort()
    await expect.poll(() => ran.filter((name) => name === 'aborted').length).toBe(before + 1)
  })
})

describe('arguments that headers repeat', () => {
  const server = createServer({ name: 's', version: '1' })
  const input = z.object({
    region: z.string().meta({ 'x-mcp-header': 'Region' }).optional(),
    count: z.number().int().meta({ 'x-mcp-header': 'Count' }).optional(),
    dry: z.boolean().meta({ 'x-mcp-header': 'Dry' }).optional(),
  })
  server.tool('route', { input }, (args) => json(args))
  const handle = sessionHandler(server)
  const route = (args: object, headers: Record<string, string>): Promise<Response> =>
    post(handle, modernRequest('tools/call', { name: 'route', arguments: args }), {
      ...modernHeaders('tools/call', 'route'),
      ...headers,
    })

  it.each([
    [{}, {}, undefined],
    [{ region: 'eu' }, { 'mcp-param-region': 'eu' }, undefined],
    [{ region: 'eu' }, { 'Mcp-Param-Region': '=?base64?ZXU=?=' }, undefined],
    [{ region: '日本語' }, { 'mcp-param-region': '=?base64?5pel5pys6Kqe?=' }, undefined],
    [{ region: '' }, { 'mcp-param-region': '' }, undefined],
    [{ region: 'eu' }, {}, -32020],
    [{ region: 'eu' }, { 'mcp-param-region': 'us' }, -32020],
    [{}, { 'mcp-param-region': 'eu' }, -32020],
    [{ region: 'Hello' }, { 'mcp-param-region': '=?base64?SGVsbG8?=' }, -32020],
    [{ region: 'Hello' }, { 'mcp-param-region': '=?base64?SGVs!!!bG8=?=' }, -32020],
    [{ count: 42 }, { 'mcp-param-count': '42.0' }, undefined],
    [{ count: 42 }, { 'mcp-param-count': '43' }, -32020],
    [{ count: 42 }, { 'mcp-param-count': '0x2a' }, -32020],
    [{ dry: true }, { 'mcp-param-dry': 'true' }, undefined],
    [{ dry: true }, { 'mcp-param-dry': 'TRUE' }, -32020],
    [{}, { 'mcp-param-other': 'x' }, undefined],
  ])(
    'such as %j are compared with the headers %j [M-HDR-061] [M-HDR-062] [M-HDR-063] [M-HDR-064] [M-HDR-066] [M-HDR-067] [M-HDR-068]',
    async (args, headers, code) => {
      expect(await codes(await route(args, headers))).toEqual([code ? 400 : 200, code])
    },
  )

  it('with an annotation that cannot be obeyed are rejected at registration [M-HDR-033] [M-HDR-034] [M-HDR-037]', () => {
    for (const [name, schema] of [
      ['My Region', z.string()],
      ['', z.string()],
      ['Ratio', z.number()],
    ] as const) {
      const bad = z.object({ x: schema.meta({ 'x-mcp-header': name }) })
      expect(() => server.tool('bad', { input: bad }, () => text(''))).toThrow(TypeError)
    }
  })
})
