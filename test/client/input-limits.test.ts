/** How much a server may ask of the user and of models while it has one call to answer. */
import { describe, expect, test } from 'vitest'
import type { ConnectOptions } from '../../src/presets/client.ts'
import type { JsonObject } from '../../src/protocol/types.ts'
import {
  connectTo,
  discovered,
  duplexPeer,
  eventStream,
  initialized,
  legacyPeer,
  refuse,
  reply,
  until,
  type DuplexPeer,
} from './peers.ts'

const content = [{ type: 'text', text: 'hi' }]
const elicitation = {
  method: 'elicitation/create',
  params: { message: 'Who?', requestedSchema: { type: 'object', properties: {} } },
}
const sampling = { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } }

/** Handlers that count. */
function counting(more: ConnectOptions = {}) {
  const counts = { asked: 0, now: 0, most: 0 }
  const count = async (): Promise<void> => {
    counts.asked++
    counts.most = Math.max(counts.most, ++counts.now)
    await Promise.resolve()
    counts.now--
  }
  const options: ConnectOptions = {
    async onElicit() {
      await count()
      return { action: 'decline' }
    },
    async onSample() {
      await count()
      return { role: 'assistant', content: { type: 'text', text: 'ok' }, model: 'm' }
    },
    async roots() {
      await count()
      return []
    },
    ...more,
  }
  return { counts, options }
}

/** A server with sessions over a transport, which leaves calls to the test. */
function sessionPeer(): DuplexPeer {
  return duplexPeer((message) => {
    if (message.method === 'server/discover') return refuse(message, -32601)
    return message.method === 'initialize' ? reply(message, initialized()) : undefined
  })
}

const questions = [elicitation, sampling, { method: 'roots/list' }]

/** Asks many questions of every kind. */
function flood(send: (request: JsonObject) => void, times: number): void {
  for (let i = 0; i < times; i++) send({ jsonrpc: '2.0', id: `q${i}`, ...questions[i % 3] })
}

const tooMuch = {
  code: 'LIMIT_EXCEEDED',
  message: expect.stringContaining('"maxInputs"') as string,
}

describe('the input requests of one call', () => {
  test('ends the call after 100 questions by default, over a transport [S014]', async () => {
    const { counts, options } = counting()
    const peer = sessionPeer()
    await using client = await connectTo(peer, options)
    const call = client.callTool('a')
    flood((request) => peer.send(request), 10_000)
    await expect(call).rejects.toMatchObject(tooMuch)
    await until(() => peer.messages.filter(({ method }) => !method).length === 10_000)
    // Those after the call count as part of it
    expect(counts.asked).toBe(100)
    expect(peer.received('notifications/cancelled')).toHaveLength(1)
  })

  test('ends the call after maxInputs questions on its stream over HTTP, and no other call [S014]', async () => {
    const { counts, options } = counting({ maxInputs: 6 })
    const streams = new Map<unknown, ReturnType<typeof eventStream>>()
    const peer = legacyPeer(({ message }) => {
      const stream = eventStream()
      streams.set((message.params as JsonObject).name, stream)
      return stream.response
    })
    await using client = await connectTo(peer, options)
    const greedy = client.callTool('greedy')
    const modest = client.callTool('modest')
    await until(() => streams.size === 2)
    flood((request) => streams.get('greedy')?.event(request), 50)
    await expect(greedy).rejects.toMatchObject(tooMuch)
    const id = peer.received('tools/call').find(({ message }) => {
      return (message.params as JsonObject).name === 'modest'
    })?.message.id
    streams.get('modest')?.event({ jsonrpc: '2.0', id: 'm', ...elicitation })
    await until(() => counts.asked === 7)
    streams.get('modest')?.event({ jsonrpc: '2.0', id, result: { content } })
    expect(await modest).toEqual({ content })
  })

  test('ends the call after maxInputs questions in all of its rounds in 2026-07-28 [S014]', async () => {
    const { counts, options } = counting({ maxInputs: 6 })
    const peer = duplexPeer((message) =>
      reply(
        message,
        message.method === 'server/discover'
          ? discovered()
          : {
              resultType: 'input_required',
              inputRequests: { a: elicitation, b: elicitation },
              requestState: 's',
            },
      ),
    )
    await using client = await connectTo(peer, options)
    await expect(client.callTool('a')).rejects.toMatchObject(tooMuch)
    expect(counts.asked).toBe(6)
    // Each call has a limit of its own
    await expect(client.callTool('a')).rejects.toMatchObject(tooMuch)
    expect(counts.asked).toBe(12)
  })

  test('keeps counting while the client lists changed features [S014]', async () => {
    const { counts, options } = counting({ maxInputs: 10 })
    const peer = sessionPeer()
    await using client = await connectTo(peer, { ...options, onError: () => {} })
    void client.ping().catch(() => {})
    for (let listed = 0; listed < 5; listed++) {
      const list = client.request('tools/list', {}, { cache: 'reload' })
      await until(() => peer.received('tools/list').length > listed)
      flood((request) => peer.send(request), 8)
      peer.send({
        jsonrpc: '2.0',
        id: peer.received('tools/list')[listed]?.id,
        result: { tools: [] },
      })
      await list
      const answered = 8 * (listed + 1)
      await until(() => peer.messages.filter(({ method }) => !method).length === answered)
    }
    expect(counts.asked).toBe(10)
  })

  test('is not asked at all when one round asks more than 100 questions [S014]', async () => {
    const { counts, options } = counting()
    const many = Array.from({ length: 101 }, (_, i) => [`q${i}`, sampling])
    const peer = duplexPeer((message) =>
      reply(
        message,
        message.method === 'server/discover'
          ? discovered()
          : { resultType: 'input_required', inputRequests: Object.fromEntries(many) as JsonObject },
      ),
    )
    await using client = await connectTo(peer, options)
    await expect(client.callTool('a')).rejects.toMatchObject(tooMuch)
    expect(counts.asked).toBe(0)
  })

  test.each([
    [undefined, 10],
    [3, 3],
  ])(
    'reaches handlers at most maxConcurrentInputs (%s) at once; the rest waits [S014]',
    async (maxConcurrentInputs, most) => {
      const { counts, options } = counting(maxConcurrentInputs ? { maxConcurrentInputs } : {})
      const peer = sessionPeer()
      await using client = await connectTo(peer, options)
      const call = client.callTool('a')
      flood((request) => peer.send(request), 60)
      await until(() => counts.asked === 60 && counts.now === 0)
      expect(counts.most).toBe(most)
      const [{ id } = {}] = peer.received('tools/call')
      peer.send({ jsonrpc: '2.0', id, result: { content } })
      expect(await call).toEqual({ content })
    },
  )

  test('frees its slot when the server cancels it, although its handler continues [S014]', async () => {
    const problems: Error[] = []
    let shown = 0
    const peer = sessionPeer()
    await using client = await connectTo(peer, {
      maxConcurrentInputs: 1,
      onElicit: () => (++shown === 1 ? new Promise(() => {}) : { action: 'decline' }),
      onError: (problem) => problems.push(problem),
    })
    void client.callTool('a').catch(() => {})
    for (const id of ['first', 'second', 'third']) {
      peer.send({ jsonrpc: '2.0', id, ...elicitation })
    }
    for (const requestId of ['second', 'first']) {
      peer.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } })
    }
    await until(() => peer.messages.some(({ id }) => String(id) === 'third'))
    expect(shown).toBe(2)
    expect(problems).toEqual([])
  })

  test('outside of calls counts as part of the last one, and is reported once [S014]', async () => {
    const problems: Error[] = []
    const { counts, options } = counting({ maxInputs: 5, onError: (e) => problems.push(e) })
    const peer = sessionPeer()
    await using client = await connectTo(peer, options)
    flood((request) => peer.send(request), 50)
    await until(() => peer.messages.filter(({ method }) => !method).length === 50)
    expect(counts.asked).toBe(5)
    expect(problems).toEqual([expect.objectContaining(tooMuch)])
    // A new call is a new beginning
    const pinged = client.ping()
    peer.send({ jsonrpc: '2.0', id: 'again', method: 'roots/list' })
    await until(() => counts.asked === 6)
    const [{ id } = {}] = peer.received('ping')
    peer.send({ jsonrpc: '2.0', id, result: {} })
    await pinged
  })
})
