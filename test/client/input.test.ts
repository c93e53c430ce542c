import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { ConnectOptions } from '../../src/presets/client.ts'
import type { CreateMessageResult, ElicitParams, JsonObject } from '../../src/protocol/types.ts'
import {
  connectTo,
  discovered,
  duplexPeer,
  initialized,
  modernPeer,
  refuse,
  reply,
  result,
  until,
} from './peers.ts'

const content = [{ type: 'text', text: 'hi' }]
const sampled: CreateMessageResult = {
  role: 'assistant',
  content: { type: 'text', text: 'ok' },
  model: 'm',
}
const form = {
  message: 'Who?',
  requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
}
const elicitation = { method: 'elicitation/create', params: form }
const sampling = { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } }
const rootsList = { method: 'roots/list' }

type Script = (message: JsonObject & { params: JsonObject }) => JsonObject

/** A server of 2026-07-28 over a transport whose calls are scripted. */
function asking(script: Script) {
  return duplexPeer((message) => {
    if (message.method === 'server/discover') return reply(message, discovered())
    if (message.id === undefined) return undefined
    return reply(message, script(message as JsonObject & { params: JsonObject }))
  })
}

/** Asks once, then completes with the answers. */
function once(inputRequests: JsonObject, requestState?: string): Script {
  return ({ params }) =>
    params.inputResponses || params.requestState
      ? { content, structuredContent: params.inputResponses }
      : {
          resultType: 'input_required',
          inputRequests,
          ...(requestState !== undefined && { requestState }),
        }
}

const accept: ConnectOptions = {
  onElicit: () => ({ action: 'accept', content: { name: 'Ada' } }),
  onSample: () => sampled,
  roots: [{ uri: 'file:///work' }],
}

describe('a call that needs input', () => {
  test('is sent again with all answers, a new id and the same params [M-MRTR-040] [M-MRTR-041] [M-MRTR-048] [M-MRTR-049] [M-META-005]', async () => {
    const peer = asking(once({ who: elicitation, what: sampling, where: rootsList }, 'st'))
    const client = await connectTo(peer, accept)
    const { structuredContent } = await client.callTool('a', { x: [1] })
    const answers = {
      who: { action: 'accept', content: { name: 'Ada' } },
      what: sampled,
      where: { roots: [{ uri: 'file:///work' }] },
    }
    expect(structuredContent).toEqual(answers)
    const [first, second] = peer.received('tools/call') as { id: number; params: JsonObject }[]
    expect(second?.id).not.toBe(first?.id)
    expect(second?.params).toEqual({
      ...first?.params,
      inputResponses: answers,
      requestState: 'st',
    })
    await client.close()
  })

  test.each(['', '{"a":1}', 'é\u0000\u2028😀"\\', 'x'.repeat(65_536)])(
    'echoes the state as it is (%#) [M-MRTR-044] [M-MRTR-045] [M-MRTR-047]',
    async (state) => {
      const states: unknown[] = []
      const peer = asking(({ params }) => {
        states.push(params.requestState)
        return states.length > 1
          ? { content }
          : { resultType: 'input_required', requestState: state }
      })
      const client = await connectTo(peer)
      await client.callTool('a')
      expect(states).toEqual([undefined, state])
      await client.close()
    },
  )

  test('sends the answers and the state of the last round only [M-MRTR-046] [M-MRTR-050] [M-MRTR-016]', async () => {
    const rounds: JsonObject[] = [
      { resultType: 'input_required', inputRequests: { one: rootsList }, requestState: 's1' },
      { resultType: 'input_required', inputRequests: { two: rootsList } },
      { content },
    ]
    const seen: JsonObject[] = []
    const peer = asking(({ params: { inputResponses, requestState } }) => {
      seen.push({
        keys: Object.keys((inputResponses as JsonObject | undefined) ?? {}),
        requestState,
      })
      return rounds.shift() ?? {}
    })
    const client = await connectTo(peer, accept)
    await client.callTool('a')
    expect(seen).toEqual([
      { keys: [], requestState: undefined },
      { keys: ['one'], requestState: 's1' },
      { keys: ['two'], requestState: undefined },
    ])
    await client.close()
  })

  test('does not leak into concurrent calls [M-MRTR-051]', async () => {
    const peer = asking(({ params, ...message }) => {
      const { name, inputResponses, requestState } = params
      if (name === 'plain' || requestState)
        return { content, structuredContent: { name, inputResponses, requestState } }
      return {
        resultType: 'input_required',
        inputRequests: { [String(name)]: rootsList },
        requestState: `s-${String(name)}`,
        id: message.id,
      }
    })
    const client = await connectTo(peer, accept)
    const results = await Promise.all(['a', 'plain', 'b'].map((name) => client.callTool(name)))
    expect(results.map((one) => one.structuredContent)).toMatchObject([
      { name: 'a', inputResponses: { a: {} }, requestState: 's-a' },
      { name: 'plain' },
      { name: 'b', inputResponses: { b: {} }, requestState: 's-b' },
    ])
    expect(results[1]?.structuredContent).not.toHaveProperty('requestState')
    await client.close()
  })

  test('answers requests under odd keys [M-MRTR-053]', async () => {
    const requests = JSON.parse(
      '{"__proto__":{"method":"roots/list"},"":{"method":"roots/list"},"漢":{"method":"roots/list"}}',
    ) as JsonObject
    const peer = asking(once(requests, 's'))
    const client = await connectTo(peer, accept)
    const { structuredContent } = await client.callTool('a')
    expect(Object.keys(structuredContent as JsonObject)).toEqual(['__proto__', '', '漢'])
    expect({}).not.toHaveProperty('roots')
    await client.close()
  })

  test.each(['prompts/get', 'resources/read'])(
    'may have the method %s [M-MRTR-002]',
    async (method) => {
      const peer = asking((message) =>
        message.params.requestState
          ? { messages: [], contents: [] }
          : { resultType: 'input_required', inputRequests: { r: rootsList }, requestState: 's' },
      )
      const client = await connectTo(peer, accept)
      await client.request(method, { name: 'a', uri: 'a:b' })
      expect(peer.received(method)).toHaveLength(2)
      await client.close()
    },
  )

  test.each(['tools/list', 'completion/complete', 'com.example/x'])(
    'may not have the method %s [M-MRTR-004]',
    async (method) => {
      let asked = 0
      const peer = asking(() => ({ resultType: 'input_required', inputRequests: { r: rootsList } }))
      const client = await connectTo(peer, { roots: () => (asked++, []) })
      await expect(client.request(method, {})).rejects.toMatchObject({ code: 'INVALID_MESSAGE' })
      expect(asked).toBe(0)
      await client.close()
    },
  )

  test.each<[string, JsonObject]>([
    ['neither requests nor state', {}],
    ['requests that are no object', { inputRequests: [] }],
    ['a state that is no string', { requestState: 7 }],
  ])('is rejected as invalid with %s [M-MRTR-007]', async (_, body) => {
    const peer = asking(() => ({ resultType: 'input_required', ...body }))
    const client = await connectTo(peer, accept)
    await expect(client.callTool('a')).rejects.toMatchObject({ code: 'INVALID_MESSAGE' })
    expect(peer.received('tools/call')).toHaveLength(1)
    await client.close()
  })

  test.each<[string, unknown, ConnectOptions]>([
    ['sampling that was not declared', sampling, { roots: [] }],
    ['an unknown method', { method: 'x/y' }, accept],
    ['a method that is inherited', { method: 'toString' }, accept],
    ['no object', 7, accept],
    [
      'a URL where only forms were declared',
      {
        method: 'elicitation/create',
        params: { mode: 'url', message: 'm', url: 'https://a.example' },
      },
      accept,
    ],
    ['an unknown mode', { method: 'elicitation/create', params: { ...form, mode: 'x' } }, accept],
    [
      'sampling with tools that were not declared',
      { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1, tools: [] } },
      accept,
    ],
  ])(
    'fails locally when asked for %s [M-MRTR-054] [M-ELIC-008] [M-SAMP-004]',
    async (_, bad, options) => {
      let answered = 0
      const peer = asking(once({ good: rootsList, bad }))
      const client = await connectTo(peer, { ...options, roots: () => (answered++, []) })
      await expect(client.callTool('a')).rejects.toMatchObject({ code: 'INVALID_MESSAGE' })
      expect(answered).toBe(0)
      expect(peer.received('tools/call')).toHaveLength(1)
      await client.close()
    },
  )

  test('fails with the error of a handler, and is not sent again [M-MRTR-055] [M-SAMP-027] [M-ROOT-010]', async () => {
    const peer = asking(once({ what: sampling }))
    const bad = new Error('no model')
    const client = await connectTo(peer, { onSample: () => Promise.reject(bad) })
    await expect(client.callTool('a')).rejects.toBe(bad)
    expect(peer.received('tools/call')).toHaveLength(1)
    await client.close()
  })

  test.each(['decline', 'cancel'] as const)(
    'continues when the user says %s, without content [M-MRTR-056] [M-ELIC-019]',
    async (action) => {
      const peer = asking(once({ who: elicitation }))
      const client = await connectTo(peer, {
        onElicit: () => ({ action, content: { name: 'no' } }),
      })
      expect((await client.callTool('a')).structuredContent).toEqual({ who: { action } })
      await client.close()
    },
  )

  test('is asked a bounded number of times [M-MRTR-057] [M-ELIC-056]', async () => {
    const peer = asking(() => ({
      resultType: 'input_required',
      inputRequests: { who: elicitation },
    }))
    const client = await connectTo(peer, { ...accept, maxRounds: 3 })
    await expect(client.callTool('a')).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
      message: '"tools/call" reached "maxRounds" (3): the server asks for ["who"]',
      data: { inputRequests: { who: elicitation } },
    })
    expect(peer.received('tools/call')).toHaveLength(4)
    await client.close()
  })

  test('that only has to wait is sent again with pauses, a bounded number of times [M-MRTR-042] [M-MRTR-043]', async () => {
    const peer = asking(() => ({ resultType: 'input_required', requestState: 's' }))
    const client = await connectTo(peer, { maxRounds: 2 })
    const before = performance.now()
    await expect(client.callTool('a')).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' })
    expect(performance.now() - before).toBeGreaterThan(100)
    expect(peer.received('tools/call')).toHaveLength(3)
    await client.close()
  })

  test('that is aborted meanwhile stops its handlers and sends nothing more [M-MRTR-058] [M-CANC-022]', async () => {
    const peer = asking(once({ who: elicitation }))
    let handler: AbortSignal | undefined
    const client = await connectTo(peer, {
      onElicit: (_, { signal }) => {
        handler = signal
        return new Promise(() => {})
      },
    })
    const controller = new AbortController()
    const call = client.callTool('a', {}, { signal: controller.signal })
    await until(() => handler !== undefined)
    controller.abort()
    await expect(call).rejects.toMatchObject({ code: 'ABORTED' })
    expect(handler?.aborted).toBe(true)
    expect(peer.messages).toHaveLength(2)
    await client.close()
  })

  test('can be answered by the caller [M-MRTR-059]', async () => {
    const peer = asking(once({ who: elicitation }, 's'))
    const client = await connectTo(peer, accept)
    const asked = await client.request('tools/call', { name: 'a' }, { input: 'manual' })
    expect(asked).toMatchObject({
      resultType: 'input_required',
      inputRequests: { who: elicitation },
      requestState: 's',
    })
    const params = { name: 'a', requestState: 's', inputResponses: { who: { action: 'decline' } } }
    expect(await client.request('tools/call', params)).toMatchObject({ content })
    await client.close()
  })

  test('has its headers again over HTTP [M-MRTR-052]', async () => {
    const inputSchema = {
      type: 'object',
      properties: { r: { type: 'string', 'x-mcp-header': 'R' } },
    }
    const peer = modernPeer((request) => {
      const { method, params } = request.message
      if (method === 'tools/list') return result(request, { tools: [{ name: 'a', inputSchema }] })
      return result(
        request,
        params?.requestState ? { content } : { resultType: 'input_required', requestState: 's' },
      )
    })
    const client = await connectTo(peer)
    await client.listAllTools()
    await client.callTool('a', { r: 'x' })
    for (const { headers } of peer.received('tools/call')) {
      expect(headers.get('mcp-name')).toBe('a')
      expect(headers.get('mcp-param-r')).toBe('x')
    }
    await client.close()
  })

  test('passes the identity of the server to handlers [M-MRTR-060] [M-ELIC-030]', async () => {
    const peer = modernPeer((request) =>
      result(
        request,
        request.message.params?.inputResponses
          ? { content }
          : { resultType: 'input_required', inputRequests: { who: elicitation } },
      ),
    )
    let server: unknown
    const client = await connectTo(peer, {
      onElicit: (_, context) => {
        server = context.server
        return { action: 'decline' }
      },
    })
    await client.callTool('a')
    expect(server).toEqual({
      url: 'https://peer.example/mcp',
      info: { name: 'peer', version: '1' },
    })
    await client.close()
  })
})

describe('approval', () => {
  test('comes before a tool call is sent and before a handler runs [L-COM-025] [L-TOOL-033] [L-TOOL-035] [M-TOOL-045]', async () => {
    const asked: string[] = []
    const peer = asking(once({ who: elicitation, where: rootsList }))
    const client = await connectTo(peer, {
      ...accept,
      approve: ({ method }) => asked.push(method) > 0,
    })
    await client.callTool('a')
    expect(asked).toEqual(['tools/call', 'elicitation/create', 'roots/list'])
    await client.close()
  })

  test('that is refused sends no call', async () => {
    const peer = asking(() => ({ content }))
    const client = await connectTo(peer, { approve: async ({ params }) => params.name !== 'rm' })
    await expect(client.callTool('rm', { path: '/' })).rejects.toMatchObject({ code: 'DENIED' })
    await client.callTool('ls')
    expect(peer.received('tools/call')).toHaveLength(1)
    await client.close()
  })

  test('that is refused declines an elicitation and fails a call that wants sampling', async () => {
    const approve = ({ method }: { method: string }): boolean => method === 'tools/call'
    const peer = asking(({ params }) =>
      once({ q: params.name === 'e' ? elicitation : sampling })({ params }),
    )
    const client = await connectTo(peer, { ...accept, approve })
    expect((await client.callTool('e')).structuredContent).toEqual({ q: { action: 'decline' } })
    await expect(client.callTool('s')).rejects.toMatchObject({ code: 'DENIED' })
    expect(peer.received('tools/call')).toHaveLength(3)
    await client.close()
  })
})

describe('requests of a server with sessions', () => {
  /** Connects, lets the server ask, and gives what it got. */
  async function ask(
    request: JsonObject,
    options: ConnectOptions,
    version = '2025-11-25',
  ): Promise<JsonObject> {
    const peer = duplexPeer((message) => {
      if (message.method === 'server/discover') return refuse(message, -32601)
      return message.method === 'initialize' ? reply(message, initialized(version)) : undefined
    })
    const client = await connectTo(peer, options)
    peer.send({ jsonrpc: '2.0', id: 'q', ...request })
    await until(() => peer.messages.some((message) => !message.method))
    await client.close()
    return peer.messages.find((message) => !message.method) ?? {}
  }

  test('are answered by the handlers, under their ids [L-ELIC-006] [L-SAMP-001] [L-ROOT-001]', async () => {
    expect(await ask(elicitation, accept)).toEqual({
      jsonrpc: '2.0',
      id: 'q',
      result: { action: 'accept', content: { name: 'Ada' } },
    })
    expect(await ask(sampling, accept)).toEqual({ jsonrpc: '2.0', id: 'q', result: sampled })
    expect(await ask(rootsList, accept)).toEqual({
      jsonrpc: '2.0',
      id: 'q',
      result: { roots: [{ uri: 'file:///work' }] },
    })
  })

  test.each([elicitation, sampling, rootsList, { method: 'x/y' }, { method: 'toString' }])(
    'that nothing handles are unknown: %j [L-RPC-014] [L-ELIC-001] [L-ROOT-004]',
    async (request) => {
      expect(await ask(request, {})).toMatchObject({ id: 'q', error: { code: -32601 } })
    },
  )

  const url = { mode: 'url', message: 'm', url: 'https://a.example/x', elicitationId: '1' }
  test.each<[string, JsonObject, ConnectOptions]>([
    ['a URL without the mode', { ...elicitation, params: url }, accept],
    [
      'a form without the mode',
      elicitation,
      { ...accept, capabilities: { elicitation: { url: {} } } },
    ],
    ['an unknown mode', { ...elicitation, params: { ...form, mode: 'x' } }, accept],
    ['no message', { ...elicitation, params: { requestedSchema: { type: 'object' } } }, accept],
    ['no schema', { ...elicitation, params: { message: 'm' } }, accept],
    [
      'a URL that runs code',
      { ...elicitation, params: { ...url, url: 'javascript:alert(1)' } },
      { ...accept, capabilities: { elicitation: { url: {} } } },
    ],
    [
      'sampling tools that were not declared',
      { ...sampling, params: { messages: [], maxTokens: 1, tools: [] } },
      accept,
    ],
    ['no maxTokens', { ...sampling, params: { messages: [] } }, accept],
    ['no messages', { ...sampling, params: { maxTokens: 1 } }, accept],
  ])(
    'with %s are invalid [L-ELIC-002] [L-ELIC-004] [L-SAMP-004] [M-ELIC-040]',
    async (_, request, options) => {
      expect(await ask(request, options)).toMatchObject({ id: 'q', error: { code: -32602 } })
    },
  )

  test.each([
    'http://localhost@evil.example/',
    'http://localhost:80@evil.example/',
    'http://127.0.0.1%2eevil.example/',
    'http://localhost.evil.example/',
    'http://evil.example/?http://localhost',
  ])('with the URL "%s", which is not on this machine, are invalid', async (other) => {
    const request = { ...elicitation, params: { ...url, url: other } }
    const capabilities = { elicitation: { url: {} } }
    expect(await ask(request, { ...accept, capabilities })).toMatchObject({
      error: { code: -32602, message: '"url" is not safe' },
    })
  })

  test.each(['http://localhost', 'http://127.0.0.1:80/x', 'http://[::1]?q', 'https://a.example'])(
    'with the URL "%s" are passed on',
    async (safe) => {
      const request = { ...elicitation, params: { ...url, url: safe } }
      const capabilities = { elicitation: { url: {} } }
      expect(await ask(request, { ...accept, capabilities })).toMatchObject({
        result: { action: 'accept' },
      })
    },
  )

  test('in URL mode are answered without content when the mode is declared [L-ELIC-011] [M-ELIC-024]', async () => {
    let asked: ElicitParams | undefined
    const answer = await ask(
      { ...elicitation, params: url },
      {
        capabilities: { elicitation: { form: {}, url: {} } },
        onElicit(params) {
          asked = params
          return { action: 'accept', content: { a: 1 } }
        },
      },
    )
    expect(answer).toMatchObject({ result: { action: 'accept' } })
    expect(answer.result).not.toHaveProperty('content')
    expect(asked).toEqual(url)
  })

  test('for a form get the defaults of omitted fields [L-ELIC-012] [L-ELIC-015] [M-ELIC-017] [M-ELIC-020]', async () => {
    const requestedSchema = {
      type: 'object',
      properties: {
        name: { type: 'string', default: 'Bob' },
        age: { type: 'number', default: 1.5 },
        tags: { type: 'array', items: { type: 'string', enum: ['a', 'b'] }, default: ['a'] },
        ok: { type: 'boolean', default: false },
        free: { type: 'string' },
      },
    }
    const answer = await ask(
      { ...elicitation, params: { message: 'm', requestedSchema } },
      {
        onElicit: () => ({ action: 'accept', content: { name: 'Ada' } }),
      },
    )
    expect(answer).toMatchObject({
      result: { content: { name: 'Ada', age: 1.5, tags: ['a'], ok: false } },
    })
    const bare = await ask(
      { ...elicitation, params: { message: 'm', requestedSchema } },
      {
        onElicit: () => ({ action: 'accept' }),
      },
    )
    expect(bare).toMatchObject({
      result: { content: { name: 'Bob', age: 1.5, tags: ['a'], ok: false } },
    })
  })

  const use = (id: string): JsonObject => ({ type: 'tool_use', id, name: 't', input: {} })
  const done = (toolUseId: string): JsonObject => ({ type: 'tool_result', toolUseId, content: [] })
  test.each<[string, JsonObject[], boolean]>([
    [
      'balanced',
      [
        { role: 'assistant', content: [use('a'), use('b')] },
        { role: 'user', content: [done('b'), done('a')] },
      ],
      true,
    ],
    [
      'single blocks',
      [
        { role: 'assistant', content: use('a') },
        { role: 'user', content: done('a') },
      ],
      true,
    ],
    [
      'plain',
      [
        { role: 'user', content: { type: 'text', text: 'x' } },
        { role: 'user', content: [] },
      ],
      true,
    ],
    [
      'mixed with text',
      [
        { role: 'assistant', content: use('a') },
        { role: 'user', content: [done('a'), { type: 'text', text: 'x' }] },
      ],
      false,
    ],
    [
      'another id',
      [
        { role: 'assistant', content: use('a') },
        { role: 'user', content: done('b') },
      ],
      false,
    ],
    [
      'one missing',
      [
        { role: 'assistant', content: [use('a'), use('b')] },
        { role: 'user', content: done('a') },
      ],
      false,
    ],
    [
      'none',
      [
        { role: 'assistant', content: use('a') },
        { role: 'user', content: { type: 'text', text: 'x' } },
      ],
      false,
    ],
    ['an orphan', [{ role: 'user', content: done('a') }], false],
    ['open at the end', [{ role: 'assistant', content: use('a') }], false],
  ])(
    'for sampling with tool results that are %s [L-SAMP-005] [L-SAMP-006] [L-SAMP-007] [M-SAMP-014]',
    async (_, messages, fine) => {
      const answer = await ask({ ...sampling, params: { messages, maxTokens: 1 } }, accept)
      if (fine) expect(answer).toMatchObject({ result: sampled })
      else expect(answer).toMatchObject({ error: { code: -32602 } })
    },
  )

  test('whose handler fails are internal errors without detail [L-ROOT-004] [L-RPC-015]', async () => {
    const problems: Error[] = []
    const answer = await ask(sampling, {
      onSample: () => Promise.reject(new Error('secret')),
      onError: (e) => problems.push(e),
    })
    expect(answer.error).toEqual({ code: -32603, message: 'Internal error' })
    expect(problems.map((e) => e.message)).toEqual(['secret'])
  })

  test('that were not approved are rejected by the user [L-SAMP-008]', async () => {
    expect(await ask(sampling, { ...accept, approve: () => false })).toMatchObject({
      error: { code: -1 },
    })
    expect(await ask(elicitation, { ...accept, approve: () => false })).toMatchObject({
      result: { action: 'decline' },
    })
  })

  test.each(['https://a.example/', 'file:///a/../b', 'file:///a/%2E%2e/b', '/etc'])(
    'for roots never include "%s" [L-ROOT-003] [L-ROOT-006] [M-ROOT-003] [M-ROOT-005]',
    async (uri) => {
      expect(await ask(rootsList, { roots: [{ uri }] })).toMatchObject({ error: { code: -32603 } })
    },
  )

  test('that are cancelled abort their handler and are not answered [L-CANC-005]', async () => {
    let signal: AbortSignal | undefined
    const peer = duplexPeer((message) => {
      if (message.method === 'server/discover') return refuse(message, -32601)
      return message.method === 'initialize' ? reply(message, initialized()) : undefined
    })
    const client = await connectTo(peer, {
      onElicit: async (_, context) => {
        signal = context.signal
        await new Promise((resolve) => context.signal.addEventListener('abort', resolve))
        return { action: 'cancel' }
      },
    })
    peer.send({ jsonrpc: '2.0', id: 1, ...elicitation })
    await until(() => signal !== undefined)
    peer.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: '1' } })
    peer.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: {} })
    peer.send({ jsonrpc: '2.0', method: 'notifications/cancelled' })
    peer.send({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: 1, reason: 'late' },
    })
    await until(() => signal?.aborted === true)
    expect(signal?.reason).toBe('late')
    peer.send({ jsonrpc: '2.0', id: 2, method: 'ping' })
    await until(() => peer.messages.some((message) => message.id === 2))
    expect(peer.messages.some((message) => message.id === 1 && !message.method)).toBe(false)
    await client.close()
  })

  test('stop the clocks of calls while the user thinks', async () => {
    const peer = duplexPeer((message) => {
      if (message.method === 'server/discover') return refuse(message, -32601)
      if (message.method === 'initialize') return reply(message, initialized())
      if (message.method === 'tools/call') return { jsonrpc: '2.0', id: 'q', ...elicitation }
      const call = peer.messages.find((message) => message.method === 'tools/call')
      return message.method ? undefined : reply(call ?? {}, { content })
    })
    const client = await connectTo(peer, {
      onElicit: async () => {
        await vi.advanceTimersByTimeAsync(120_000)
        return { action: 'decline' }
      },
    })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    expect(await client.callTool('a', {}, { timeoutMs: 60_000 })).toEqual({ content })
    await client.close()
  })
})

test('capabilities follow the handlers, and others are not declared [M-ELIC-002]', async () => {
  const peer = asking(() => ({ content }))
  const client = await connectTo(peer, {
    ...accept,
    capabilities: { sampling: { tools: {} }, extensions: { 'a.b/c': {} } },
  })
  expect(
    (peer.messages[0]!.params!._meta as JsonObject)['io.modelcontextprotocol/clientCapabilities'],
  ).toEqual({
    elicitation: { form: {} },
    sampling: { tools: {} },
    roots: {},
    extensions: { 'a.b/c': {} },
  })
  await client.close()
  const other = asking(() => ({ content }))
  const useless = { elicitation: { form: {} }, sampling: {}, roots: {} }
  await (await connectTo(other, { capabilities: useless })).close()
  expect(
    (other.messages[0]!.params!._meta as JsonObject)['io.modelcontextprotocol/clientCapabilities'],
  ).toEqual({})
})

test('changed roots are notified in a session, and cannot be notified since 2026-07-28 [L-ROOT-002] [M-ROOT-009]', async () => {
  const legacy = duplexPeer((message) => {
    if (message.method === 'server/discover') return refuse(message, -32601)
    return message.method === 'initialize' ? reply(message, initialized()) : undefined
  })
  const modern = asking(() => ({}))
  for (const peer of [legacy, modern]) {
    const client = await connectTo(peer, accept)
    await client.rootsChanged()
    await client.close()
  }
  expect(legacy.messages.at(-1)).toEqual({
    jsonrpc: '2.0',
    method: 'notifications/roots/list_changed',
  })
  expect(modern.messages).toHaveLength(1)
})
