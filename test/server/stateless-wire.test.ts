import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import {
  isNotification,
  isRequest,
  isResponse,
  ProtocolError,
  type ClientCapabilities,
  type InputRequest,
  type JsonObject,
  type JsonRpcMessage,
} from '../../src/index.ts'
import { createServer, text } from '../../src/presets/server.ts'
import { sessionHandler } from '../handler.ts'
import { schemaErrors } from '../schema/validator.ts'
import {
  allMessages,
  lastMessage,
  modernHeaders,
  modernRequest,
  post,
  postModern,
} from '../transport/streamable-http/post.ts'
import { makeServer } from './fixture.ts'

const VERSION = 'io.modelcontextprotocol/protocolVersion'
const ALL = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} }
const form = z.object({ yes: z.boolean() })

/** A server whose one tool does what the test says. */
function doing(run: Parameters<ReturnType<typeof createServer>['tool']>[2]) {
  const server = createServer({ name: 's', version: '1' })
  server.tool('do', {}, run)
  const handle = sessionHandler(server)
  return {
    server,
    handle,
    call: (capabilities: ClientCapabilities = ALL, params: JsonObject = {}) =>
      postModern(handle, 'tools/call', { name: 'do', ...params }, capabilities),
  }
}

describe('every message that a server of 2026-07-28 sends', () => {
  it('fits the schema; results are objects, errors have a code and a message, nothing is a request [M-BASE-008] [M-BASE-015] [M-BASE-021] [M-BASE-039] [M-HTTP-001] [M-HTTP-017] [M-HTTP-023]', async () => {
    const { server } = makeServer()
    const handle = sessionHandler(server)
    const requests: [string, JsonObject?][] = [
      ['server/discover'],
      ['tools/list'],
      ['prompts/list'],
      ['resources/list'],
      ['resources/templates/list'],
      ['tools/call', { name: 'add', arguments: { a: 1, b: 2 } }],
      ['tools/call', { name: 'chat', _meta: { progressToken: 1 } }],
      ['tools/call', { name: 'fail', arguments: { how: 'x' } }],
      ['tools/call', { name: 'confirm', arguments: { what: 'x' } }],
      ['tools/call', { name: 'none' }],
      ['tools/call', {}],
      ['prompts/get', { name: 'greet', arguments: { who: 'x' } }],
      ['prompts/get', { name: 'none' }],
      ['resources/read', { uri: 'note://one' }],
      ['resources/read', { uri: 'none://x' }],
      [
        'completion/complete',
        { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'who', value: '' } },
      ],
      ['no/such'],
    ]
    const sent: JsonRpcMessage[] = []
    for (const [method, params] of requests) {
      const response = await postModern(handle, method, params, ALL)
      expect(['application/json', 'text/event-stream']).toContain(
        response.headers.get('content-type'),
      )
      sent.push(...(await allMessages(response)))
    }
    expect(sent.filter((m) => isResponse(m))).toHaveLength(requests.length)
    for (const message of sent) {
      expect(isRequest(message)).toBe(false)
      if (isNotification(message)) expect(message).not.toHaveProperty('id')
      const definition =
        'error' in message
          ? 'JSONRPCErrorResponse'
          : 'result' in message
            ? 'JSONRPCResultResponse'
            : 'JSONRPCNotification'
      expect(schemaErrors('2026-07-28', definition, message)).toEqual([])
    }
  })

  it.each([
    ['an unknown version', { 'mcp-protocol-version': '2099-01-01' }, '2099-01-01', 400, -32022],
    [
      'another version in the header',
      { 'mcp-protocol-version': '2025-11-25' },
      '2026-07-28',
      400,
      -32020,
    ],
    ['no version in the body', {}, undefined, 400, -32602],
  ])(
    '%s has its own code and status, also for discover [M-HTTP-041] [M-BASE-034] [M-DISC-005]',
    async (_what, headers, version, status, code) => {
      const handle = sessionHandler(makeServer().server)
      const request = modernRequest('server/discover')
      const meta = request.params._meta as JsonObject
      if (version === undefined) delete meta[VERSION]
      else meta[VERSION] = version
      const response = await post(handle, request, {
        ...modernHeaders('server/discover'),
        ...headers,
      })
      expect([response.status, (await lastMessage(response)).error.code]).toEqual([status, code])
    },
  )

  it('has no error code that the revision does not define, for any error of a handler [M-BASE-030] [M-BASE-033]', async () => {
    for (const code of [-32000, -32001, -32019, -32023, -32042, -32050, -32099]) {
      const { call } = doing(() => {
        throw new ProtocolError(code, 'Mine')
      })
      expect((await lastMessage(await call())).error).toEqual({ code: -32603, message: 'Mine' })
    }
    const missing = doing(() => {
      throw new ProtocolError(-32002, 'Mine')
    })
    expect((await lastMessage(await missing.call())).error.code).toBe(-32602)
    for (const code of [-32602, -32700, -1, 5, -32100]) {
      const { call } = doing(() => {
        throw new ProtocolError(code, 'Mine')
      })
      expect((await lastMessage(await call())).error.code).toBe(code)
    }
  })
})

it('the author of an error with a reserved code learns which codes are free [P005]', async () => {
  const errors: unknown[] = []
  const server = createServer(
    { name: 's', version: '1' },
    { onError: (error) => errors.push(error) },
  )
  const mine = new ProtocolError(-32000, 'Closed')
  server.tool('a', {}, () => {
    throw mine
  })
  const handle = sessionHandler(server)
  const { error } = await lastMessage(await postModern(handle, 'tools/call', { name: 'a' }))
  expect(error).toEqual({ code: -32603, message: 'Closed' })
  expect(errors).toEqual([
    new TypeError('The protocol reserves the error code -32000: use one outside -32768 to -32000', {
      cause: mine,
    }),
  ])
})

describe('a client of 2026-07-28', () => {
  it('may omit clientInfo, may send unknown fields, and is believed per request [M-META-011] [M-META-027] [M-BASE-048]', async () => {
    const { call } = doing((_args, ctx) =>
      text(JSON.stringify([ctx.client.info ?? null, ctx.meta])),
    )
    const odd = { 'io.modelcontextprotocol/zzz': [1, { a: null }], 'com.example/x': 5 }
    const { result } = await lastMessage(await call(ALL, { _meta: odd }))
    const [info, meta] = JSON.parse((result.content as [{ text: string }])[0].text) as [
      unknown,
      JsonObject,
    ]
    expect(info).toBeNull()
    expect(meta).toMatchObject(odd)
  })

  it('may write headers in any case, and a header with an invalid value is rejected [M-HDR-020] [M-HDR-065]', async () => {
    const server = createServer({ name: 's', version: '1' })
    const input = z.object({ region: z.string().meta({ 'x-mcp-header': 'Region' }) })
    server.tool('route', { input }, () => text('routed'))
    const handle = sessionHandler(server)
    const call = modernRequest('tools/call', { name: 'route', arguments: { region: 'é' } })
    const headers = {
      'MCP-PROTOCOL-VERSION': '2026-07-28',
      'MCP-METHOD': 'tools/call',
      'mCP-nAME': 'route',
    }
    const encoded = await post(handle, call, { ...headers, 'MCP-PARAM-REGION': '=?base64?w6k=?=' })
    expect(encoded.status).toBe(200)
    // A raw byte beyond ASCII, as a careless client sends it.
    const raw = await post(handle, call, { ...headers, 'mcp-param-region': '\u00c3\u00a9' })
    expect([raw.status, (await lastMessage(raw)).error.code]).toEqual([400, -32020])
  })

  it('cannot reach another tool by forged headers [M-HDR-073]', async () => {
    const { server, ran } = makeServer()
    const forged = modernRequest('tools/call', { name: 'fail', arguments: { how: 'x' } })
    const response = await post(sessionHandler(server), forged, modernHeaders('tools/call', 'add'))
    expect(response.status).toBe(400)
    expect(ran).toEqual([])
  })

  it('gets 400 for a malformed notification, without an id [M-HTTP-016]', async () => {
    const handle = sessionHandler(makeServer().server)
    const version = { 'mcp-protocol-version': '2026-07-28' }
    for (const body of [
      { jsonrpc: '2.0', method: 5 },
      { jsonrpc: '1.0', method: 'notifications/x' },
      { jsonrpc: '2.0', method: 'notifications/x', params: [] },
    ]) {
      const response = await post(handle, body, version)
      expect(response.status).toBe(400)
      expect(await lastMessage(response)).not.toHaveProperty('id')
    }
  })

  it('receives nothing more of a call once it closed the stream [M-HTTP-037] [M-CANC-005]', async () => {
    const states: string[] = []
    let go = (): void => {}
    const gone = new Promise<void>((resolve) => (go = resolve))
    const { call } = doing(async (_args, ctx) => {
      await ctx.progress(1)
      await gone
      states.push(ctx.signal.aborted ? 'cancelled' : 'running')
      await ctx.progress(2)
      states.push('went on')
      return text('late')
    })
    const response = await call(ALL, { _meta: { progressToken: 1 } })
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    await reader.read()
    await reader.cancel()
    go()
    await expect.poll(() => states).toEqual(['cancelled', 'went on'])
    expect((await reader.read()).done).toBe(true)
  })
})

describe('questions of 2026-07-28', () => {
  const asked = async (response: Response): Promise<InputRequest[]> => {
    const { result } = await lastMessage(response)
    expect(result.resultType).toBe('input_required')
    const requests = Object.values(result.inputRequests as { [key: string]: InputRequest })
    for (const request of requests) {
      expect(schemaErrors('2026-07-28', 'InputRequest', request)).toEqual([])
    }
    return requests
  }

  it('are rounds of requests that the schema knows, each with its message or form [M-MRTR-009] [M-ELIC-006] [M-ELIC-009] [M-ELIC-023] [M-ROOT-002] [M-SAMP-009]', async () => {
    const { call } = doing(async (_args, ctx) => {
      await Promise.all([
        ctx.elicit({ message: 'Sure?', schema: form }),
        ctx.elicitUrl({ message: 'Pay', url: 'https://pay.example/' }),
        ctx.sample({ messages: [{ role: 'user', content: text('Hi') }], maxTokens: 10 }),
        ctx.roots(),
      ])
      return text('done')
    })
    const requests = await asked(await call())
    expect(requests.map(({ method, params }) => [method, params?.mode])).toEqual([
      ['elicitation/create', 'form'],
      ['elicitation/create', 'url'],
      ['sampling/createMessage', undefined],
      ['roots/list', undefined],
    ])
    expect(requests[0]?.params).toMatchObject({
      message: 'Sure?',
      requestedSchema: { type: 'object' },
    })
    expect(requests[1]?.params).toMatchObject({ message: 'Pay', url: 'https://pay.example/' })
  })

  it.each([
    [{ elicitation: {} }, 'form', true],
    [{ elicitation: { form: {} } }, 'form', true],
    [{ elicitation: { url: {} } }, 'form', false],
    [{ elicitation: {} }, 'url', false],
    [{ elicitation: { form: {} } }, 'url', false],
    [{ elicitation: { url: {} } }, 'url', true],
    [{}, 'form', false],
  ])('with %j a %s can be shown: %s [M-ELIC-004]', async (capabilities, mode, possible) => {
    const { call } = doing(async (_args, ctx) => {
      if (mode === 'form') await ctx.elicit({ message: 'Sure?', schema: form })
      else await ctx.elicitUrl({ message: 'Pay', url: 'https://pay.example/' })
      return text('done')
    })
    const { result, error } = await lastMessage(await call(capabilities))
    if (possible) expect(result.resultType).toBe('input_required')
    else {
      expect(error).toMatchObject({
        code: -32021,
        data: { requiredCapabilities: { elicitation: { [mode]: {} } } },
      })
    }
  })

  it('about tools are for clients that sample with tools [M-SAMP-003] [M-MRTR-013]', async () => {
    const { call } = doing(async (_args, ctx) => {
      const tools = [{ name: 'x', inputSchema: { type: 'object' as const } }]
      await ctx.sample({ messages: [], maxTokens: 1, tools })
      return text('done')
    })
    expect((await lastMessage(await call({ sampling: {} }))).error).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { sampling: { tools: {} } } },
    })
    expect(await asked(await call())).toHaveLength(1)
  })

  it('never leave tool uses and results unbalanced [M-SAMP-011] [M-SAMP-012] [M-SAMP-013]', async () => {
    const use = (id: string) => ({ type: 'tool_use' as const, id, name: 'x', input: {} })
    const result = (toolUseId: string) => ({ type: 'tool_result' as const, toolUseId, content: [] })
    const turn = (role: 'user' | 'assistant', ...content: object[]) => ({
      role,
      content: content as never,
    })
    const cases: [boolean, ReturnType<typeof turn>[]][] = [
      [true, [turn('assistant', use('1'), use('2')), turn('user', result('1'), result('2'))]],
      [false, [turn('assistant', use('1'), use('2')), turn('user', result('1'))]],
      [false, [turn('assistant', use('1')), turn('user', result('2'))]],
      [false, [turn('assistant', use('1')), turn('user', result('1'), text('and'))]],
      [false, [turn('assistant', use('1')), turn('user', text('no'))]],
      [false, [turn('user', result('1'))]],
      [false, [turn('assistant', use('1'))]],
    ]
    for (const [balanced, messages] of cases) {
      const errors: unknown[] = []
      const { call } = doing(async (_args, ctx) => {
        await ctx.sample({ messages, maxTokens: 1 }).catch((error: unknown) => {
          errors.push(error)
          throw error
        })
        return text('done')
      })
      const response = await call()
      if (balanced) expect(await asked(response)).toHaveLength(1)
      else
        expect(errors).toMatchObject([
          { message: expect.stringMatching(/^Cannot sample/) as unknown },
        ])
    }
  })

  it('of an unknown kind, or twice under one key, fail on the server [M-MRTR-008] [M-MRTR-009]', async () => {
    const own = doing(() => ({
      resultType: 'input_required',
      inputRequests: { x: { method: 'tools/list' } as unknown as InputRequest },
    }))
    expect((await lastMessage(await own.call())).error.code).toBe(-32603)
    const errors: unknown[] = []
    const twice = doing(async (_args, ctx) => {
      const ask = (message: string) => ctx.elicit({ message, schema: form, key: 'same' })
      for (const { status, ...rest } of await Promise.allSettled([ask('One'), ask('Two')])) {
        if (status === 'rejected') errors.push((rest as { reason: unknown }).reason)
      }
      return text('done')
    })
    expect(await asked(await twice.call())).toMatchObject([{ params: { message: 'One' } }])
    expect(errors[1]).toMatchObject({ message: /The key "same" is taken/ })
  })

  it('hold nothing open: two thousand unanswered requests leave nothing behind [M-MRTR-028]', async () => {
    let open = 0
    const { call } = doing(async (_args, ctx) => {
      open++
      try {
        await ctx.elicit({ message: 'Sure?', schema: form })
      } finally {
        open--
      }
      return text('done')
    })
    for (let n = 0; n < 20; n++) await Promise.all(Array.from({ length: 100 }, () => call()))
    expect(open).toBe(0)
  })

  it('never request secrets by a form [M-ELIC-028]', async () => {
    for (const name of ['password', 'apiKey', 'api_key', 'Secret', 'credit-card']) {
      const errors: unknown[] = []
      const { call } = doing(async (_args, ctx) => {
        await ctx
          .elicit({ message: 'x', schema: z.object({ [name]: z.string() }) })
          .catch((error: unknown) => {
            errors.push(error)
          })
        return text('done')
      })
      expect((await lastMessage(await call())).result.resultType).toBe('complete')
      expect(errors).toMatchObject([{ message: expect.stringContaining(name) as unknown }])
    }
  })
})

describe('listeners of 2026-07-28', () => {
  it('receive only what they asked for, the acknowledgement first [M-SUB-004] [M-SUB-007] [M-META-032]', async () => {
    const { server } = makeServer()
    for (let n = 0; n < 50; n++) {
      const handle = sessionHandler(server)
      const opening = postModern(handle, 'subscriptions/listen', {
        notifications: { toolsListChanged: true },
      })
      // Changes that race with the opening.
      for (let m = 0; m < 3; m++) {
        server.notify.toolsListChanged()
        server.notify.promptsListChanged()
        server.notify.resourceUpdated('note://one')
        await Promise.resolve()
      }
      const response = await opening
      server.notify.toolsListChanged()
      await handle.close()
      const [first, ...others] = await allMessages(response)
      expect(first).toMatchObject({ method: 'notifications/subscriptions/acknowledged' })
      const methods = others.flatMap((m) => ('method' in m ? [m.method] : []))
      expect(new Set(methods)).toEqual(new Set(['notifications/tools/list_changed']))
      for (const message of [first, ...others]) {
        const carrier =
          message && 'method' in message
            ? message.params
            : (message as { result: JsonObject }).result
        expect(carrier?._meta).toHaveProperty(['io.modelcontextprotocol/subscriptionId'], 1)
      }
    }
  })
})
