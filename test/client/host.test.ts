import { afterEach, describe, expect, test, vi } from 'vitest'
import { chooseModel, toolHints, type ConnectOptions } from '../../src/presets/client.ts'
import type { JsonObject } from '../../src/protocol/types.ts'
import { revisions } from '../../src/protocol/revisions.ts'
import {
  connectTo,
  duplexPeer,
  initialized,
  legacyPeer,
  reply,
  result,
  until,
  type DuplexPeer,
} from './peers.ts'

const LEGACY = revisions.filter(({ era }) => era === 'legacy').map(({ version }) => version)
const FORMS = LEGACY.filter((revision) => revision >= '2025-06-18')
const text = (value: string) => ({ type: 'text' as const, text: value })

/** A server that sends the requests of a test. */
function asker(revision: string, tools: JsonObject[] = []): DuplexPeer {
  return duplexPeer((message) => {
    if (message.method === 'initialize') return reply(message, initialized(revision))
    if (message.method === 'tools/list') return reply(message, { tools })
    if (message.method === 'tools/call') return reply(message, { content: [text('done')] })
    return message.method && message.id !== undefined ? reply(message, {}) : undefined
  })
}

/** Asks the client, and waits for its answer. */
async function ask(peer: DuplexPeer, id: string, method: string, params: JsonObject) {
  peer.send({ jsonrpc: '2.0', id, method, params })
  const answer = (): JsonObject | undefined =>
    peer.messages.find((one) => (one.id as unknown) === id && one.method === undefined)
  await until(() => answer() !== undefined)
  return answer() as { result?: JsonObject; error?: { code: number } }
}

const form = { message: 'Who?', requestedSchema: { type: 'object', properties: {} } }
const url = 'https://pay.example/42'
const both: ConnectOptions = { capabilities: { elicitation: { form: {}, url: {} } } }

afterEach(() => vi.restoreAllMocks())

describe.each(FORMS)('the context that hosts get with an input request in %s', (revision) => {
  test.each(['accept', 'decline', 'cancel'] as const)(
    'names the server, and may be answered by %s [L-ELIC-018]',
    async (action) => {
      const peer = asker(revision)
      const servers: unknown[] = []
      const client = await connectTo(peer, {
        revision,
        onElicit: (_params, { server }) => {
          servers.push(server.info)
          return { action }
        },
      })
      const answer = await ask(peer, 'e', 'elicitation/create', form)
      expect(servers).toEqual([{ name: 'peer', version: '1' }])
      expect(answer.result?.action).toBe(action)
      await client.close()
    },
  )

  test.each<JsonObject>([{ requestedSchema: form.requestedSchema }, { message: 'x' }, {}])(
    'is never that of a request without its required members, such as %j [L-ELIC-005]',
    async (params) => {
      const peer = asker(revision)
      const client = await connectTo(peer, { revision, onElicit: () => ({ action: 'accept' }) })
      const answer = await ask(peer, 'e', 'elicitation/create', params)
      expect(answer.error?.code).toBe(-32602)
      await client.close()
    },
  )
})

describe.each(FORMS)('a form in %s', (revision) => {
  test('is sent when the host says so, as it was reviewed, and not before [L-ELIC-019]', async () => {
    const peer = asker(revision)
    let send: (content: Record<string, string>) => void = () => {}
    const client = await connectTo(peer, {
      revision,
      approve: ({ method, server }) => method === 'elicitation/create' && server.info !== undefined,
      onElicit: () =>
        new Promise((resolve) => {
          send = (content) => resolve({ action: 'accept', content })
        }),
    })
    const answer = ask(peer, 'e', 'elicitation/create', form)
    await client.ping()
    const sent = () => peer.messages.filter(({ result: body }) => body !== undefined)
    expect(sent()).toEqual([])
    send({ who: 'Ada, reviewed' })
    expect((await answer).result?.content).toEqual({ who: 'Ada, reviewed' })
    await client.close()
  })
})

describe('URLs that a server asks the user to visit', () => {
  test('are shown whole, with any id, and are never fetched [L-ELIC-023] [L-ELIC-044] [L-ELIC-045] [L-ELIC-046]', async () => {
    const global = vi.spyOn(globalThis, 'fetch')
    const ids = ['1', '../x', '💥', 'a'.repeat(5000), '__proto__']
    const long = `${url}?${'q=1&'.repeat(1000)}#end`
    const peer = asker('2025-11-25')
    const shown: unknown[] = []
    const client = await connectTo(peer, {
      ...both,
      revision: '2025-11-25',
      onElicit: (params) => {
        shown.push(params)
        return { action: 'decline' }
      },
    })
    for (const elicitationId of ids) {
      const params = { mode: 'url', message: 'Pay', url: long, elicitationId }
      const answer = await ask(peer, `e${elicitationId}`, 'elicitation/create', params)
      expect(answer.result).toEqual({ action: 'decline' })
      expect(shown.at(-1)).toEqual(params)
    }
    expect(global).not.toHaveBeenCalled()
    await client.close()
  })

  test('may be reported complete any number of times, known or not [L-ELIC-026]', async () => {
    const peer = asker('2025-11-25')
    const problems: Error[] = []
    const client = await connectTo(peer, {
      ...both,
      revision: '2025-11-25',
      onElicit: () => ({ action: 'accept' }),
      onError: (error) => problems.push(error),
    })
    const params = { mode: 'url', message: 'Pay', url, elicitationId: 'e1' }
    await ask(peer, 'e', 'elicitation/create', params)
    const method = 'notifications/elicitation/complete'
    for (const elicitationId of ['e1', 'e1', 'unknown', 7, null]) {
      peer.send({ jsonrpc: '2.0', method, params: { elicitationId } })
    }
    peer.send({ jsonrpc: '2.0', method })
    await client.ping()
    expect(problems).toEqual([])
    await client.close()
  })
})

describe.each(LEGACY)('a sampling request in %s', (revision) => {
  const question = { messages: [{ role: 'user', content: text('hi') }], maxTokens: 5 }
  const said = { role: 'assistant' as const, model: 'm', content: text('secret answer') }

  test.each<JsonObject>([
    { messages: question.messages },
    { maxTokens: 5 },
    { ...question, modelPreferences: { intelligencePriority: 2 } },
  ])('is rejected with the params %j [L-SAMP-015]', async (params) => {
    const peer = asker(revision)
    const client = await connectTo(peer, { revision, onSample: () => said })
    expect((await ask(peer, 's', 'sampling/createMessage', params)).error?.code).toBe(-32602)
    await client.close()
  })

  test('is never logged, nor is its content [L-SAMP-022]', async () => {
    const printed = (['log', 'info', 'warn', 'error', 'debug'] as const).map((name) =>
      vi.spyOn(console, name),
    )
    const peer = asker(revision)
    const client = await connectTo(peer, { revision, onSample: () => said })
    await ask(peer, 's', 'sampling/createMessage', question)
    for (const print of printed) expect(print).not.toHaveBeenCalled()
    await client.close()
  })
})

describe('the choice of tools', () => {
  const use = { type: 'tool_use' as const, id: 'u', name: 'a', input: {} }
  test.each([
    ['required', use, true],
    ['required', text('no'), false],
    ['none', use, false],
    ['none', text('no'), true],
    ['auto', use, true],
    ['auto', text('no'), true],
    [undefined, use, true],
  ] as const)(
    'reaches the handler as %s, and the answer %j is accepted: %s [L-SAMP-009]',
    async (mode, content, right) => {
      const peer = asker('2025-11-25')
      const seen: unknown[] = []
      const client = await connectTo(peer, {
        revision: '2025-11-25',
        capabilities: { sampling: { tools: {} } },
        onSample: ({ toolChoice }) => {
          seen.push(toolChoice)
          return { role: 'assistant', model: 'm', content }
        },
      })
      const toolChoice = mode && { mode }
      const answer = await ask(peer, 's', 'sampling/createMessage', {
        messages: [{ role: 'user', content: text('hi') }],
        maxTokens: 5,
        tools: [{ name: 'a', inputSchema: { type: 'object' } }],
        ...(toolChoice && { toolChoice }),
      })
      expect(seen).toEqual([toolChoice])
      expect(answer.result !== undefined).toBe(right)
      await client.close()
    },
  )
})

describe('chooseModel', () => {
  test('takes the first hint that fits, in any order of the models [L-SAMP-013] [M-SAMP-016]', () => {
    const models = ['big-sonnet-4', 'small-haiku-3', 'gemini-pro']
    const choose = (...names: (string | undefined)[]) =>
      chooseModel(models, { hints: names.map((name) => (name === undefined ? {} : { name })) })
    expect(choose('haiku', 'sonnet')).toBe('small-haiku-3')
    expect(choose('unknown', 'Sonnet')).toBe('big-sonnet-4')
    expect(choose(undefined, 'pro')).toBe('gemini-pro')
    expect(choose('unknown')).toBeUndefined()
    expect(chooseModel(models)).toBeUndefined()
  })
})

describe('hints of tools', () => {
  test('default to the cautious ones if a tool has none [L-TOOL-028]', () => {
    const careful = {
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
      openWorldHint: true,
    }
    expect(toolHints({})).toEqual(careful)
    expect(toolHints({ annotations: { readOnlyHint: true, title: 'A' } })).toEqual({
      ...careful,
      readOnlyHint: true,
    })
  })

  test('approve nothing by themselves [L-TOOL-027]', async () => {
    const annotations = { readOnlyHint: true, destructiveHint: false }
    const peer = asker('2025-11-25', [{ name: 'a', inputSchema: { type: 'object' }, annotations }])
    const approved: string[] = []
    const client = await connectTo(peer, {
      revision: '2025-11-25',
      approve: ({ method }) => approved.push(method) < 2,
    })
    await client.listAllTools()
    await client.callTool('a')
    await expect(client.callTool('a')).rejects.toMatchObject({ code: 'DENIED' })
    expect(approved).toEqual(['tools/call', 'tools/call'])
    await client.close()
  })
})

describe.each(LEGACY)('results of tools in %s', (revision) => {
  test('without isError are successes [L-TOOL-017]', async () => {
    const peer = asker(revision)
    const client = await connectTo(peer, { revision, validateOutput: () => undefined })
    const called = await client.callTool('a')
    expect(called).toEqual({ content: [text('done')] })
    expect(called.isError ?? false).toBe(false)
    await client.close()
  })

  test('may link to an unlisted resource, which is read as it is [L-TOOL-037]', async () => {
    const link = { type: 'resource_link', uri: 'note://hidden?x=%2F', name: 'hidden' }
    const peer = legacyPeer(
      (request) => {
        if (request.message.method === 'tools/call') return result(request, { content: [link] })
        const { uri } = request.message.params as { uri: string }
        return result(request, { contents: [{ uri, text: 'found' }] })
      },
      { version: revision },
    )
    const client = await connectTo(peer, { revision })
    const [block] = (await client.callTool('a')).content
    const { contents } = await client.readResource((block as { uri: string }).uri)
    expect(contents).toEqual([{ uri: link.uri, text: 'found' }])
    expect(peer.received('resources/list')).toEqual([])
    await client.close()
  })
})

describe.each(LEGACY)('unknown _meta in %s', (revision) => {
  test('is passed on with any value [L-COM-001]', async () => {
    const _meta = {
      'io.modelcontextprotocol/unknown': [1, { a: null }],
      'io.modelcontextprotocol/serverInfo': 7,
      'modelcontextprotocol.io/x': false,
      'com.example/y': 'z',
    }
    const peer = duplexPeer((message) => {
      if (message.method === 'initialize')
        return reply(message, { ...initialized(revision), _meta })
      return message.id === undefined ? undefined : reply(message, { content: [], _meta })
    })
    const received: unknown[] = []
    const client = await connectTo(peer, { revision, onNotification: (one) => received.push(one) })
    expect((await client.callTool('a', {}, { meta: _meta }))._meta).toEqual(_meta)
    const log = {
      jsonrpc: '2.0',
      method: 'notifications/message',
      params: { level: 'info', data: 1, _meta },
    }
    peer.send(log)
    await client.ping()
    expect(received).toEqual([log])
    await client.close()
  })
})
