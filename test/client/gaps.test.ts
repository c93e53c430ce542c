import { afterEach, describe, expect, test, vi } from 'vitest'
import type { ConnectOptions } from '../../src/presets/client.ts'
import {
  connectTo,
  error,
  eventStream,
  httpPeer,
  initialized,
  legacyPeer,
  modernPeer,
  result,
  type EventStream,
  type HttpPeer,
  type ScriptedRequest,
} from './peers.ts'

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const TOOLS = 'notifications/tools/list_changed'
const PROMPTS = 'notifications/prompts/list_changed'
const UPDATED = 'notifications/resources/updated'
const legacy = { revision: ['2025-11-25', '2025-06-18'] } as const

type Answer = () => Response

const gets = (peer: HttpPeer): ScriptedRequest[] =>
  peer.requests.filter((request) => request.method === 'GET')

/** A server with sessions that answers the GETs of one after another as a script says. */
function listenedTo(...answers: [Answer, ...Answer[]]): HttpPeer {
  return listenedToIn('2025-11-25', ...answers)
}

function listenedToIn(version: string, ...answers: [Answer, ...Answer[]]): HttpPeer {
  let [answer] = answers
  const plain = legacyPeer((request) => result(request, { content: [], tools: [] }), { version })
  return httpPeer((request) => {
    const { url, method, headers, message } = request
    if (method === 'GET') return (answer = answers.shift() ?? answer)()
    return plain.fetch(url, { method, headers, body: JSON.stringify(message) })
  })
}

/** Streams that a test controls; each opens with `start`. */
function streams(start = ''): { opened: EventStream[]; open(): Response } {
  const opened: EventStream[] = []
  return {
    opened,
    open() {
      const stream = eventStream()
      if (start) stream.write(start)
      opened.push(stream)
      return stream.response
    },
  }
}

const refusal = (status: number) => (): Response => new Response('No', { status })

describe('The GET stream of a session, once it has worked', () => {
  test.each([400, 404, 406, 408, 409, 425, 501])(
    'is opened again after a refusal with %i [C017]',
    async (status) => {
      vi.useFakeTimers()
      // A 404 means the end of the session only where there is one
      const { opened, open } = streams()
      const peer = listenedTo(open, refusal(status), refusal(status), open)
      const sessionless = httpPeer(async (request) => {
        const response = await peer.fetch(request.url, {
          method: request.method,
          headers: request.headers,
          ...(request.method === 'POST' && { body: JSON.stringify(request.message) }),
        })
        response.headers.delete('mcp-session-id')
        return response
      })
      let received = 0
      const client = await connectTo(status === 404 ? sessionless : peer, {
        ...legacy,
        onToolsChanged: () => received++,
        onError() {},
      })
      await vi.advanceTimersByTimeAsync(0)
      opened[0]?.fail()
      await vi.advanceTimersByTimeAsync(30_000)
      expect(gets(peer)).toHaveLength(4)
      const before = received
      opened[1]?.event({ jsonrpc: '2.0', method: TOOLS })
      await vi.advanceTimersByTimeAsync(0)
      expect(received).toBe(before + 1)
      await client.close()
      await vi.advanceTimersByTimeAsync(0)
      expect(vi.getTimerCount()).toBe(0)
    },
  )

  test('is not opened again after 405, nor without authorization [C017]', async () => {
    vi.useFakeTimers()
    for (const status of [401, 403, 405]) {
      const { opened, open } = streams()
      const denied = (): Response =>
        new Response(null, { status, headers: { 'www-authenticate': 'Bearer' } })
      const peer = listenedTo(open, denied)
      const client = await connectTo(peer, { ...legacy, onToolsChanged() {}, onError() {} })
      await vi.advanceTimersByTimeAsync(0)
      opened[0]?.fail()
      await vi.advanceTimersByTimeAsync(600_000)
      expect(gets(peer)).toHaveLength(2)
      await client.close()
    }
  })

  test('reports a refusal once, however often it comes [C017]', async () => {
    vi.useFakeTimers()
    const problems: Error[] = []
    const { opened, open } = streams()
    const peer = listenedTo(open, refusal(406))
    const client = await connectTo(peer, {
      ...legacy,
      onToolsChanged() {},
      onError: (problem) => problems.push(problem),
    })
    await vi.advanceTimersByTimeAsync(0)
    opened[0]?.fail()
    await vi.advanceTimersByTimeAsync(600_000)
    expect(gets(peer).length).toBeGreaterThan(5)
    expect(problems).toMatchObject([{ code: 'HTTP', data: { status: 406 } }])
    await client.close()
  })

  test('is opened again after a time that has a random part, the first time too', async () => {
    vi.useFakeTimers()
    vi.spyOn(Math, 'random').mockReturnValue(1 - Number.EPSILON)
    const { opened, open } = streams()
    const peer = listenedTo(open)
    const client = await connectTo(peer, { ...legacy, onToolsChanged() {} })
    await vi.advanceTimersByTimeAsync(0)
    opened[0]?.end()
    await vi.advanceTimersByTimeAsync(1_200)
    expect(gets(peer)).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(50)
    expect(gets(peer)).toHaveLength(2)
    await client.close()
  })

  test('is opened later each time while the server closes it at once [P015]', async () => {
    vi.useFakeTimers()
    const peer = listenedTo(() => {
      const stream = eventStream()
      stream.write(': hello\n\n')
      stream.end()
      return stream.response
    })
    const client = await connectTo(peer, { ...legacy, onToolsChanged() {} })
    await vi.advanceTimersByTimeAsync(600_000)
    expect(gets(peer).length).toBeGreaterThan(8)
    expect(gets(peer).length).toBeLessThan(20)
    await client.close()
    expect(vi.getTimerCount()).toBe(0)
  })

  test('is opened after the shortest pause where each lasts for a while [P015]', async () => {
    vi.useFakeTimers()
    const { opened, open } = streams()
    const peer = listenedTo(open)
    const client = await connectTo(peer, { ...legacy, onToolsChanged() {} })
    await vi.advanceTimersByTimeAsync(0)
    for (let count = 1; count < 20; count++) {
      await vi.advanceTimersByTimeAsync(10_000)
      opened.at(-1)?.end()
      await vi.advanceTimersByTimeAsync(1_250)
      expect(gets(peer)).toHaveLength(count + 1)
    }
    await client.close()
  })
})

describe('A stream of 2026-07-28, once it was acknowledged', () => {
  test.each<[string, (request: ScriptedRequest) => Response]>([
    ['409', () => new Response('Conflict', { status: 409 })],
    ['425', () => new Response('Too early', { status: 425 })],
    ['404 of a proxy', () => new Response('Not found', { status: 404 })],
    ['406 of a firewall', () => new Response('Blocked', { status: 406 })],
    ['503 and a JSON-RPC error', (request) => error(request, -32603, 503)],
    ['a rate limiter', (request) => error(request, 429)],
  ])('is requested again after %s [C017]', async (_what, refuse) => {
    vi.useFakeTimers()
    const { opened, open } = streams()
    const peer = modernPeer((request) => {
      const count = peer.received('subscriptions/listen').length
      if (count === 2) return refuse(request)
      const response = open()
      const { id, params } = request.message
      opened.at(-1)?.event({
        jsonrpc: '2.0',
        method: 'notifications/subscriptions/acknowledged',
        params: {
          notifications: params?.notifications,
          _meta: { 'io.modelcontextprotocol/subscriptionId': id },
        },
      })
      return response
    })
    const client = await connectTo(peer, { onToolsChanged() {} })
    await vi.advanceTimersByTimeAsync(0)
    opened[0]?.fail()
    await vi.advanceTimersByTimeAsync(10_000)
    expect(peer.received('subscriptions/listen')).toHaveLength(3)
    await client.close()
  })
})

describe('After a gap in a session every hook and every listener is notified once', () => {
  /** Listens with hooks and an iterator; returns what each has received since the last call. */
  async function listening(peer: HttpPeer, options: ConnectOptions = {}) {
    const hooks: string[] = []
    const listened: string[] = []
    const client = await connectTo(peer, {
      ...legacy,
      onToolsChanged: () => hooks.push('tools'),
      onPromptsChanged: () => hooks.push('prompts'),
      onResourceUpdated: (uri) => hooks.push(uri),
      onError() {},
      ...options,
    })
    const filter = { toolsListChanged: true, resourceSubscriptions: ['a:b'] }
    const subscription = await client.listen(filter)
    await client.subscribe('a:c')
    const pump = async (): Promise<void> => {
      for await (const { method, params } of subscription)
        listened.push(String(params?.uri ?? method))
    }
    void pump()
    await vi.advanceTimersByTimeAsync(0)
    return { client, hooks, received: () => [hooks.splice(0).sort(), listened.splice(0).sort()] }
  }

  const everything = [
    ['a:b', 'a:c', 'prompts', 'tools'],
    ['a:b', TOOLS],
  ]

  test.each(['2025-11-25', '2025-06-18', '2025-03-26'] as const)(
    'if the stream is opened again without an event id, on %s [C021]',
    async (revision) => {
      vi.useFakeTimers()
      const { opened, open } = streams()
      const { client, received } = await listening(listenedToIn(revision, open), {
        revision: [revision],
      })
      expect(received()).toEqual([[], []])
      opened[0]?.fail()
      await vi.advanceTimersByTimeAsync(2_000)
      expect(opened).toHaveLength(2)
      expect(received()).toEqual(everything)
      opened[1]?.event({ jsonrpc: '2.0', method: PROMPTS })
      opened[1]?.event({ jsonrpc: '2.0', method: UPDATED, params: { uri: 'a:b' } })
      await vi.advanceTimersByTimeAsync(0)
      expect(received()).toEqual([['a:b', 'prompts'], ['a:b']])
      await client.close()
    },
  )

  test('if the server no longer knows the event id [C021]', async () => {
    vi.useFakeTimers()
    const { opened, open } = streams('id: 1\ndata:\n\n')
    const { client, received } = await listening(listenedTo(open, refusal(400), open))
    opened[0]?.fail()
    await vi.advanceTimersByTimeAsync(10_000)
    expect(opened).toHaveLength(2)
    expect(received()).toEqual(everything)
    await client.close()
  })

  test('if the first attempt to open the stream failed [C021]', async () => {
    vi.useFakeTimers()
    const { opened, open } = streams()
    const { client, received } = await listening(listenedTo(refusal(503), open))
    await vi.advanceTimersByTimeAsync(10_000)
    expect(opened).toHaveLength(1)
    expect(received()).toEqual(everything)
    await client.close()
  })

  test('if the server replaced the session [C021]', async () => {
    vi.useFakeTimers()
    let session = 's1'
    const { opened, open } = streams('id: 1\ndata:\n\n')
    const peer = httpPeer((request) => {
      const { method, message, headers } = request
      if (message.method === 'initialize')
        return result(request, initialized(), { 'Mcp-Session-Id': session })
      if (headers.get('mcp-session-id') !== session) return error(request, -32001, 404)
      if (method === 'GET') return open()
      return message.id === undefined ? new Response(null, { status: 202 }) : result(request, {})
    })
    const { client, received } = await listening(peer)
    session = 's2'
    await client.ping()
    await vi.advanceTimersByTimeAsync(5_000)
    expect(opened).toHaveLength(2)
    expect(received()).toEqual(everything)
    await client.close()
  })

  test('if the new session refuses some of the subscriptions, which is reported [C021]', async () => {
    vi.useFakeTimers()
    let session = 's1'
    const problems: Error[] = []
    const { open } = streams('id: 1\ndata:\n\n')
    const peer = httpPeer((request) => {
      const { method, message, headers } = request
      if (message.method === 'initialize')
        return result(request, initialized(), { 'Mcp-Session-Id': session })
      if (headers.get('mcp-session-id') !== session) return error(request, -32001, 404)
      if (method === 'GET') return open()
      if (session === 's2' && message.method === 'logging/setLevel') return error(request, -32603)
      if (session === 's2' && message.params?.uri === 'a:b') return error(request, -32002)
      return message.id === undefined ? new Response(null, { status: 202 }) : result(request, {})
    })
    const onError = (problem: Error): void => void problems.push(problem)
    const { client, received } = await listening(peer, { onError })
    await client.setLogLevel('error')
    session = 's2'
    await client.ping()
    await vi.advanceTimersByTimeAsync(5_000)
    expect(peer.received('resources/subscribe').slice(2)).toMatchObject([
      { message: { params: { uri: 'a:b' } } },
      { message: { params: { uri: 'a:c' } } },
    ])
    expect(received()).toEqual(everything)
    expect(problems).toMatchObject([{ code: -32603 }, { code: -32002 }])
    await client.close()
  })

  test('unless each new session is lost at once, which fails the call [C021]', async () => {
    vi.useFakeTimers()
    let isUp = true
    const { open } = streams()
    const peer = httpPeer((request) => {
      const { method, message } = request
      if (message.method === 'initialize')
        return result(request, initialized(), { 'Mcp-Session-Id': 's1' })
      if (!isUp && message.method !== 'notifications/initialized')
        return new Response(null, { status: 404 })
      if (method === 'GET') return open()
      return message.id === undefined ? new Response(null, { status: 202 }) : result(request, {})
    })
    const { client } = await listening(peer)
    isUp = false
    let failure: unknown
    client.ping().catch((error: unknown) => (failure = error))
    await vi.advanceTimersByTimeAsync(5_000)
    expect(failure).toMatchObject({ code: 'SESSION_LOST' })
    await client.close()
  })

  test('unless the stream was resumed, which leaves no gap [C021]', async () => {
    vi.useFakeTimers()
    const { opened, open } = streams('id: 1\ndata:\n\n')
    const { client, received } = await listening(listenedTo(open))
    opened[0]?.fail()
    await vi.advanceTimersByTimeAsync(2_000)
    expect(opened).toHaveLength(2)
    expect(received()).toEqual([[], []])
    await client.close()
  })
})
