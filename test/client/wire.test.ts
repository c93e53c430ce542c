/** What a client of 2026-07-28 puts on the wire, and what it never does. */
import { describe, expect, test, vi } from 'vitest'
import { clientObserver, type ConnectOptions } from '../../src/presets/client.ts'
import { outputValidator } from '../../src/json-schema/index.ts'
import type { CreateMessageResult, JsonObject } from '../../src/protocol/types.ts'
import {
  connectTo,
  discovered,
  duplexPeer,
  error,
  eventStream,
  legacyPeer,
  modernPeer,
  reply,
  result,
  type HttpPeer,
} from './peers.ts'
import { IN_PROCESS } from '../patience.ts'
import { gate } from '../tasks/fixture.ts'

const META = 'io.modelcontextprotocol/'
const content = [{ type: 'text', text: 'hi' }]
const sampled: CreateMessageResult = {
  role: 'assistant',
  content: { type: 'text', text: 'ok' },
  model: 'm',
}
const form = { message: 'Who?', requestedSchema: { type: 'object', properties: {} } }
const handlers: ConnectOptions = {
  onElicit: () => ({ action: 'accept', content: {} }),
  onSample: () => sampled,
  roots: [{ uri: 'file:///work' }],
}

/** A server whose lists are empty and whose calls need all three kinds of input. */
const asking = (): HttpPeer =>
  modernPeer((request) => {
    const { method, params = {} } = request.message
    if (method?.endsWith('/list')) {
      return result(request, { tools: [], prompts: [], resources: [], resourceTemplates: [] })
    }
    if (method === 'resources/read') return result(request, { contents: [] })
    if (method === 'prompts/get') return result(request, { messages: [] })
    if (params.inputResponses) return result(request, { content })
    const inputRequests = {
      who: { method: 'elicitation/create', params: form },
      what: { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } },
      where: { method: 'roots/list' },
    }
    return result(request, { resultType: 'input_required', inputRequests })
  })

/** What each request of a connection declared. */
async function declared(options: ConnectOptions): Promise<JsonObject[]> {
  const peer = asking()
  const client = await connectTo(peer, options)
  await client.listAllTools()
  await client.listAllPrompts()
  await client.readResource('note://a')
  await client.getPrompt('a')
  await client.callTool('a', {}, { input: 'manual' })
  await client.close()
  const all = peer.requests.map(({ message }) => {
    return (message.params?._meta as JsonObject)[`${META}clientCapabilities`] as JsonObject
  })
  expect(all).toHaveLength(6)
  return all
}

describe('the capabilities of a client', () => {
  test('are declared in each request, and nothing else is [M-ELIC-001] [M-SAMP-001] [M-ROOT-001]', async () => {
    for (const one of await declared({})) expect(one).toEqual({})
    const { onElicit, onSample, roots } = handlers
    for (const one of await declared({ onElicit: onElicit! })) {
      expect(one).toEqual({ elicitation: { form: {} } })
    }
    for (const one of await declared({ onSample: onSample! })) expect(one).toEqual({ sampling: {} })
    for (const one of await declared({ roots: roots! })) expect(one).toEqual({ roots: {} })
  })

  test('include sampling with tools only if it is declared, and a server that ignores that gets no answer [M-SAMP-002]', async () => {
    const tools = [{ name: 'a', inputSchema: { type: 'object' } }]
    const ask = { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1, tools } }
    const peer = (): HttpPeer =>
      modernPeer((request) =>
        request.message.params?.inputResponses
          ? result(request, { content })
          : result(request, { resultType: 'input_required', inputRequests: { ask } }),
      )
    const seen: unknown[] = []
    const onSample: ConnectOptions['onSample'] = (params) => {
      seen.push(params.tools)
      return sampled
    }
    const without = peer()
    const plain = await connectTo(without, { onSample })
    await expect(plain.callTool('a')).rejects.toMatchObject({ code: 'INVALID_MESSAGE' })
    expect(without.received('tools/call')).toHaveLength(1)
    const capabilities = { sampling: { tools: {} } }
    const able = await connectTo(peer(), { onSample, capabilities })
    await able.callTool('a')
    expect(seen).toEqual([tools])
    for (const one of await declared({ onSample, capabilities })) expect(one).toEqual(capabilities)
    await plain.close()
    await able.close()
  })
})

describe('requests about tools', () => {
  test('have their _meta and their headers [M-TOOL-008]', async () => {
    const peer = asking()
    const client = await connectTo(peer, handlers)
    await client.listAllTools()
    await client.callTool('é', {})
    const requests = peer.requests.filter(({ message }) => message.method?.startsWith('tools/'))
    expect(requests).toHaveLength(3)
    for (const { message, headers } of requests) {
      expect(message.params?._meta).toMatchObject({
        [`${META}protocolVersion`]: '2026-07-28',
        [`${META}clientCapabilities`]: { roots: {} },
      })
      expect(headers.get('mcp-protocol-version')).toBe('2026-07-28')
      expect(headers.get('mcp-method')).toBe(message.method)
      const name = message.method === 'tools/call' ? '=?base64?w6k=?=' : null
      expect(headers.get('mcp-name')).toBe(name)
    }
    await client.close()
  })
})

describe('rounds of input', () => {
  test('are fresh requests: id, token of progress, headers and trace are new each time [M-MRTR-061] [M-MRTR-048]', async () => {
    const peer = asking()
    let signed = 0
    let traced = 0
    const client = await connectTo(peer, {
      ...handlers,
      headers: () => ({ 'x-turn': String(++signed) }),
      observe: clientObserver(({ method }) => {
        if (method !== 'tools/call') return
        return { trace: { traceparent: `00-${'a'.repeat(31)}${++traced}-${'b'.repeat(16)}-01` } }
      }),
    })
    await client.callTool('a', { x: 1 }, { onProgress: () => {} })
    const calls = peer.received('tools/call')
    expect(calls).toHaveLength(2)
    const facts = calls.map(({ message, headers }) => {
      const meta = message.params?._meta as JsonObject
      expect(meta.progressToken).toBe(message.id)
      return [message.id, headers.get('x-turn'), meta.traceparent]
    })
    for (const at of [0, 1, 2]) expect(facts[0]?.[at]).not.toBe(facts[1]?.[at])
    await client.close()
  })

  test('get their responses in any order of arrival [M-MRTR-062]', async () => {
    const peer = asking()
    const done: string[] = []
    const [listed, asked] = [gate(), gate()]
    const client = await connectTo(peer, {
      async onElicit() {
        await asked.opened
        done.push('elicited')
        return { action: 'accept', content: {} }
      },
      async onSample() {
        await listed.opened
        done.push('sampled')
        asked.open()
        return sampled
      },
      roots() {
        done.push('listed')
        listed.open()
        return [{ uri: 'file:///work' }]
      },
    })
    await client.callTool('a')
    expect(done).toEqual(['listed', 'sampled', 'elicited'])
    expect(peer.received('tools/call')[1]?.message.params?.inputResponses).toEqual({
      who: { action: 'accept', content: {} },
      what: sampled,
      where: { roots: [{ uri: 'file:///work' }] },
    })
    await client.close()
  })
})

describe('the annotations of tools', () => {
  test('approve no call by themselves [M-TOOL-027]', async () => {
    const annotations = { readOnlyHint: true, destructiveHint: false, openWorldHint: false }
    const peer = modernPeer((request) =>
      result(
        request,
        request.message.method === 'tools/list'
          ? { tools: [{ name: 'a', inputSchema: { type: 'object' }, annotations }] }
          : { content },
      ),
    )
    const client = await connectTo(peer, { approve: () => false })
    await client.listAllTools()
    await expect(client.callTool('a')).rejects.toMatchObject({ code: 'DENIED' })
    expect(peer.received('tools/call')).toEqual([])
    await client.close()
  })
})

describe('a client over HTTP', () => {
  test('never posts a response to any server request [M-HTTP-014] [M-BASE-040]', async () => {
    const peer = modernPeer((request) => {
      const { id, params } = request.message
      if (params?.inputResponses) return result(request, { content })
      const stream = eventStream()
      for (const method of ['roots/list', 'ping', 'elicitation/create']) {
        stream.event({ jsonrpc: '2.0', id: `rogue-${method}`, method, params: form })
      }
      const inputRequests = { who: { method: 'elicitation/create', params: form } }
      stream.event({ jsonrpc: '2.0', id, result: { resultType: 'input_required', inputRequests } })
      stream.end()
      return stream.response
    })
    const problems: string[] = []
    const client = await connectTo(peer, {
      ...handlers,
      onError: ({ message }) => problems.push(message),
    })
    await client.callTool('a')
    await client.callTool('a')
    expect(problems.length).toBeGreaterThan(0)
    await client.close()
    expect(peer.requests.map(({ message }) => message.method)).toEqual([
      'server/discover',
      ...Array.from({ length: 4 }, () => 'tools/call'),
    ])
  })
})

describe('error codes of no meaning of their own', () => {
  const codes = Array.from({ length: 20 }, (_, n) => -32_000 - n).filter((code) => code !== -32_002)

  test.each(codes)(
    '%d is final, in either era: no retry, no new connection [M-BASE-032]',
    async (code) => {
      for (const make of [modernPeer, legacyPeer]) {
        const peer = make((request) => error(request, code, 200, { why: 'because' }))
        const client = await connectTo(peer, handlers)
        for (const call of [() => client.callTool('a'), () => client.readResource('note://a')]) {
          await expect(call()).rejects.toMatchObject({
            name: 'ProtocolError',
            code,
            data: { why: 'because' },
          })
        }
        expect(peer.received('tools/call')).toHaveLength(1)
        expect(peer.received('resources/read')).toHaveLength(1)
        expect(peer.received('initialize')).toHaveLength(make === modernPeer ? 0 : 1)
        await client.close()
      }
    },
  )
})

describe('a server request', () => {
  /** Answers a call once the client gave the answers; `answers` has what it gave. */
  function asks(inputRequests: JsonObject, answers: unknown[] = []) {
    return duplexPeer((message) => {
      if (message.method === 'server/discover') return reply(message, discovered())
      if (message.id === undefined) return undefined
      const { inputResponses } = message.params as JsonObject
      if (!inputResponses) return reply(message, { resultType: 'input_required', inputRequests })
      answers.push(inputResponses)
      return reply(message, { content })
    })
  }

  test('without a mode is a form [M-ELIC-007]', async () => {
    const answers: unknown[] = []
    const seen: unknown[] = []
    const peer = asks({ who: { method: 'elicitation/create', params: form } }, answers)
    const client = await connectTo(peer, {
      capabilities: { elicitation: { form: {}, url: {} } },
      onElicit: (params) => {
        seen.push(params)
        return { action: 'accept', content: { name: 'Ada' } }
      },
    })
    await client.callTool('a')
    expect(seen).toEqual([form])
    expect(answers).toEqual([{ who: { action: 'accept', content: { name: 'Ada' } } }])
    await client.close()
  })

  test('of a model reaches the handler with its limit of tokens [M-SAMP-007]', async () => {
    const limits: unknown[] = []
    const params = { messages: [], maxTokens: 17 }
    const client = await connectTo(asks({ a: { method: 'sampling/createMessage', params } }), {
      onSample: ({ maxTokens }) => {
        limits.push(maxTokens)
        return { ...sampled, stopReason: 'maxTokens' }
      },
    })
    await client.callTool('a')
    expect(limits).toEqual([17])
    await client.close()
  })

  test('about roots returns only approved roots that exist at the time [M-ROOT-004] [M-ROOT-006]', async () => {
    const answers: unknown[] = []
    const places = [{ uri: 'file:///a' }, { uri: 'file:///gone' }]
    let approved = true
    const asked: string[] = []
    const client = await connectTo(asks({ where: { method: 'roots/list' } }, answers), {
      roots: () => [...places],
      approve: ({ method }) => {
        asked.push(method)
        return approved || method === 'tools/call'
      },
    })
    await client.callTool('a')
    places.pop()
    await client.callTool('a')
    expect(answers).toEqual([
      { where: { roots: [{ uri: 'file:///a' }, { uri: 'file:///gone' }] } },
      { where: { roots: [{ uri: 'file:///a' }] } },
    ])
    approved = false
    await expect(client.callTool('a')).rejects.toMatchObject({ code: 'DENIED' })
    expect(answers).toHaveLength(2)
    expect(asked.filter((method) => method === 'roots/list')).toHaveLength(3)
    await client.close()
  })
})

describe('schemas of tools', () => {
  test('that lead to the network are not followed when output is checked [M-TOOL-049]', async () => {
    const fetched = vi.spyOn(globalThis, 'fetch')
    const outputSchema = { type: 'object', $ref: 'https://schemas.example/output.json' }
    const tool = { name: 'a', inputSchema: { type: 'object' }, outputSchema }
    const peer = modernPeer((request) =>
      request.message.method === 'tools/list'
        ? result(request, { tools: [tool] })
        : result(request, { content, structuredContent: { any: 1 } }),
    )
    const client = await connectTo(peer, { validateOutput: outputValidator() })
    await client.listAllTools()
    await expect(client.callTool('a')).rejects.toMatchObject({ code: 'INVALID_MESSAGE' })
    expect(fetched).not.toHaveBeenCalled()
    fetched.mockRestore()
    await client.close()
  })
})

describe('a program that ended', () => {
  test('ends its listeners; a new connection listens again [M-SUB-039]', async () => {
    const start = () =>
      duplexPeer((message) => {
        if (message.method === 'server/discover') return reply(message, discovered())
        if (message.method !== 'subscriptions/listen') return undefined
        const _meta = { [`${META}subscriptionId`]: message.id }
        const { notifications } = message.params as JsonObject
        const method = 'notifications/subscriptions/acknowledged'
        return { jsonrpc: '2.0', method, params: { notifications, _meta } }
      })
    let changes = 0
    const problems: string[] = []
    const options: ConnectOptions = {
      onToolsChanged: () => changes++,
      onError: ({ message }) => problems.push(message),
    }
    for (let life = 1; life <= 2; life++) {
      const peer = start()
      const client = await connectTo(peer, options)
      await vi.waitFor(
        () => expect(peer.received('subscriptions/listen')).toHaveLength(1),
        IN_PROCESS,
      )
      const [listening] = peer.received('subscriptions/listen')
      const _meta = { [`${META}subscriptionId`]: listening?.id }
      peer.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed', params: { _meta } })
      await vi.waitFor(() => expect(changes).toBe(life), IN_PROCESS)
      peer.close()
      await vi.waitFor(() => expect(problems).toHaveLength(life), IN_PROCESS)
      expect(problems.at(-1)).toMatch(/closed/)
      await client.close()
    }
  })
})
