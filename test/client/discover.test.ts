import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { SdkError, ProtocolError, connect, type ConnectOptions } from '../../src/presets/client.ts'
import { createServer, serveTransport, type Server } from '../../src/presets/server.ts'
import { inMemoryTransports } from '../../src/transport/in-memory.ts'
import type { Transport } from '../../src/protocol/transport.ts'
import { sessionHandler } from '../handler.ts'
import type { JsonObject } from '../../src/protocol/types.ts'
import {
  connectTo,
  discovered,
  duplexPeer,
  error,
  everything,
  eventStream,
  httpPeer,
  initialized,
  json,
  legacyPeer,
  modernPeer,
  oldestPeer,
  refuse,
  reply,
  result,
  type ScriptedRequest,
} from './peers.ts'

afterEach(() => void vi.useRealTimers())

const content = [{ type: 'text', text: 'hi' }]
const endpoint = 'https://peer.example/mcp'

/** The transport to a server of ours that reads nothing until it is started. */
function delayed(server: Server): { transport: Transport; start: () => void } {
  const [near, far] = inMemoryTransports()
  return { transport: near, start: () => void serveTransport(server, far) }
}

describe('the era of a server over HTTP', () => {
  test('is modern after a discover result, in one round trip [M-COMPAT-021] [M-DISC-013]', async () => {
    const peer = modernPeer((request) => result(request, { content }))
    const client = await connectTo(peer)
    expect(peer.requests).toHaveLength(1)
    expect(client.revision).toBe('2026-07-28')
    expect(client.serverInfo).toEqual({ name: 'peer', version: '1' })
    expect(client.serverCapabilities).toEqual(everything)
    await client.close()
  })

  test('ignores legacy versions in a discover result [M-DISC-014] [M-VER-009]', async () => {
    const peer = httpPeer((request) =>
      result(request, { ...discovered(), supportedVersions: ['2025-11-25', '2026-07-28'] }),
    )
    const client = await connectTo(peer)
    expect(client.revision).toBe('2026-07-28')
  })

  const foreign: [string, (request: ScriptedRequest) => Response][] = [
    ['400 with an empty body', () => new Response(null, { status: 400 })],
    ['400 with the error of an old server', (request) => error(request, -32000, 400)],
    ['400 with -32602', (request) => error(request, -32602, 400)],
    ['404 with HTML', () => new Response('<h1>no</h1>', { status: 404 })],
    ['405', () => new Response(null, { status: 405 })],
    ['406', () => new Response(null, { status: 406 })],
    ['415', () => new Response(null, { status: 415 })],
    ['200 with -32601', (request) => error(request, -32601)],
    ['200 with another result', (request) => result(request, {})],
  ]
  test.each(foreign)(
    'is legacy after %s, which leads to initialize [M-COMPAT-026] [M-COMPAT-027] [M-COMPAT-025]',
    async (_, answer) => {
      const legacy = legacyPeer((request) => result(request, { content }))
      const peer = httpPeer((request) =>
        request.message.method === 'server/discover'
          ? answer(request)
          : legacy.fetch(request.url, init(request)),
      )
      const client = await connectTo(peer)
      expect(client.revision).toBe('2025-11-25')
      expect(peer.received('initialize')).toHaveLength(1)
      expect(client.instructions).toBe('Be kind')
      await client.close()
    },
  )

  test.each([
    [-32020, 400],
    [-32021, 400],
    [-32022, 400],
    [-32020, 200],
  ])(
    'is modern after error %i with status %i, which never leads to initialize [M-COMPAT-023]',
    async (code, status) => {
      const peer = httpPeer((request) => error(request, code, status))
      await expect(connectTo(peer)).rejects.toBeInstanceOf(Error)
      expect(peer.received('initialize')).toHaveLength(0)
      expect(peer.received('server/discover')).toHaveLength(1)
    },
  )

  test.each([401, 403, 429, 500, 503])(
    'stays unknown after status %i, which is reported [M-COMPAT-029]',
    async (status) => {
      const peer = httpPeer(() => new Response('no', { status, headers: { 'retry-after': '7' } }))
      const failure = await connectTo(peer).catch((e: unknown) => e)
      expect(failure).toBeInstanceOf(SdkError)
      expect((failure as SdkError).data).toMatchObject({ status })
      expect(peer.requests).toHaveLength(1)
    },
  )

  test('stays unknown after a network failure or a timeout, which is reported [M-COMPAT-029]', async () => {
    const down = httpPeer(() => Promise.reject(new TypeError('fetch failed')))
    await expect(connectTo(down)).rejects.toMatchObject({ code: 'NETWORK' })
    expect(down.requests).toHaveLength(1)
    const silent = httpPeer(() => new Promise(() => {}))
    await expect(connectTo(silent, { timeoutMs: 20 })).rejects.toMatchObject({ code: 'TIMEOUT' })
    expect(silent.requests).toHaveLength(1)
  })

  test('stays unknown after a malformed discover result, which is reported as invalid [M-DISC-020]', async () => {
    const peer = httpPeer((request) => result(request, { resultType: 'complete' }))
    await expect(connectTo(peer)).rejects.toMatchObject({ code: 'INVALID_MESSAGE' })
    expect(peer.received('initialize')).toHaveLength(0)
  })

  test('is legacy if client and server have only legacy versions in common [M-VER-010]', async () => {
    const legacy = legacyPeer((request) => result(request, {}), { version: '2025-06-18' })
    const peer = httpPeer((request) =>
      request.message.method === 'server/discover'
        ? error(request, -32022, 400, { supported: ['2025-06-18'], requested: '2026-07-28' })
        : legacy.fetch(request.url, init(request)),
    )
    const client = await connectTo(peer)
    expect(client.revision).toBe('2025-06-18')
    expect(peer.received('initialize')[0]?.message.params?.protocolVersion).toBe('2025-06-18')
    await client.close()
  })

  test('cannot be negotiated without a common version, and the error names both sides [M-VER-007] [M-VER-008]', async () => {
    const peer = httpPeer((request) =>
      error(request, -32022, 400, { supported: ['2099-01-01'], requested: '2026-07-28' }),
    )
    const failure = await connectTo(peer).catch((e: unknown) => e)
    expect(failure).toMatchObject({ code: 'VERSION_MISMATCH' })
    expect((failure as Error).message).toContain('2099-01-01')
    expect((failure as Error).message).toContain('2026-07-28')
    expect(peer.requests).toHaveLength(1)
  })

  test('is negotiated once more with a server that lists the version it refused [M-VER-008]', async () => {
    const peer = httpPeer((request) => error(request, -32022, 400, { supported: ['2026-07-28'] }))
    await expect(connectTo(peer)).rejects.toMatchObject({ code: 'VERSION_MISMATCH' })
    expect(peer.requests).toHaveLength(2)
  })

  test('is modern without discovery after a 404 with -32601 and a failed initialize [M-COMPAT-024]', async () => {
    const peer = httpPeer((request) =>
      request.message.method === 'tools/call'
        ? result(request, { content })
        : error(request, -32601, 404),
    )
    const client = await connectTo(peer)
    expect(client.revision).toBe('2026-07-28')
    expect(client.serverCapabilities).toBeUndefined()
    expect(peer.requests.map((request) => request.message.method)).toEqual([
      'server/discover',
      'initialize',
    ])
    expect(await client.callTool('a')).toEqual({ content })
  })

  test('causes an error in a modern-only client of a legacy server [M-COMPAT-036] [M-COMPAT-030]', async () => {
    const peer = legacyPeer((request) => result(request, {}))
    await expect(connectTo(peer, { revision: '2026-07-28' })).rejects.toMatchObject({
      code: 'VERSION_MISMATCH',
    })
    expect(peer.received('initialize')).toHaveLength(0)
  })

  test('is not probed by a legacy-only client', async () => {
    const peer = legacyPeer((request) => result(request, {}), { version: '2025-03-26' })
    const client = await connectTo(peer, { revision: ['2025-06-18', '2025-03-26'] })
    expect(client.revision).toBe('2025-03-26')
    expect(peer.requests[0]?.message.method).toBe('initialize')
    await client.close()
  })

  test('is cached per endpoint [M-VER-023] [M-VER-025] [M-COMPAT-031]', async () => {
    const eras = new Map<string, string>()
    const legacy = legacyPeer((request) => result(request, {}))
    for (const _ of [1, 2]) await (await connectTo(legacy, { versionCache: eras })).close()
    expect(legacy.received('server/discover')).toHaveLength(1)
    const other = modernPeer((request) => result(request, {}))
    const client = await connect('https://peer.example/other', {
      fetch: other.fetch,
      versionCache: eras,
    })
    expect(client.revision).toBe('2026-07-28')
  })

  test('does not repeat log messages of initialization, whether it is cached or not', async () => {
    const versionCache = new Map<string, string>()
    const peer = httpPeer((request) => {
      const { id, method } = request.message
      if (method === 'server/discover') return error(request, -32600, 400)
      if (method !== 'initialize') return new Response(null, { status: 202 })
      const stream = eventStream()
      const params = { level: 'info', data: null }
      stream.event({ jsonrpc: '2.0', method: 'notifications/message', params })
      stream.event({ jsonrpc: '2.0', id, result: initialized() })
      stream.end()
      return stream.response
    })
    for (const _ of ['not yet', 'now']) {
      let received = 0
      const client = await connectTo(peer, { versionCache, onLog: () => received++ })
      expect(received).toBe(1)
      await client.close()
    }
    expect([...versionCache.values()]).toEqual(['legacy'])
  })

  test('is negotiated again if the cached one has become wrong [M-VER-024]', async () => {
    const eras = new Map([[endpoint, 'legacy']])
    const peer = httpPeer((request) =>
      request.message.method === 'server/discover'
        ? result(request, discovered())
        : error(request, -32020, 400, { supported: ['2026-07-28'] }),
    )
    const client = await connectTo(peer, { versionCache: eras })
    expect(client.revision).toBe('2026-07-28')
    expect(peer.requests.map((request) => request.message.method)).toEqual([
      'initialize',
      'server/discover',
    ])
    expect(eras.has(endpoint)).toBe(false)
  })

  test('stays cached, and the user is prompted once, when the sign-in fails or is aborted', async () => {
    const eras = new Map([[endpoint, 'legacy']])
    let asked = 0
    const auth = {
      headers: () => ({}),
      onChallenge: () => {
        asked++
        return false
      },
    }
    const locked = httpPeer(() => new Response(null, { status: 401 }))
    await expect(connectTo(locked, { versionCache: eras, auth })).rejects.toMatchObject({
      code: 'UNAUTHORIZED',
    })
    expect(asked).toBe(1)
    const signal = AbortSignal.abort()
    await expect(connectTo(locked, { versionCache: eras, signal })).rejects.toMatchObject({
      code: 'ABORTED',
    })
    expect(eras.get(endpoint)).toBe('legacy')
  })

  test('is not negotiated over a transport that cannot be opened, and the error says why, even if closing fails too', async () => {
    const transport = {
      start: () => Promise.reject(new Error('No server is there')),
      send: () => Promise.resolve(),
      close: () => Promise.reject(new Error('It was never open')),
    }
    await expect(connect(transport)).rejects.toThrow('No server is there')
  })
})

describe('a remembered discovery', () => {
  test('saves a round trip [M-DISC-012] [M-VER-014]', async () => {
    const peer = modernPeer((request) => result(request, { content }))
    const first = await connectTo(peer)
    const stored = JSON.parse(JSON.stringify(first.discovery)) as typeof first.discovery
    peer.requests.length = 0
    const client = await connectTo(peer, { discovery: stored })
    expect(peer.requests).toHaveLength(0)
    expect(client.serverCapabilities).toEqual(everything)
    expect(await client.callTool('a')).toEqual({ content })
    expect(peer.requests).toHaveLength(1)
  })

  test('that has become wrong is replaced at the first failure [M-VER-024]', async () => {
    const peer = legacyPeer((request) => {
      return request.headers.has('mcp-session-id')
        ? result(request, { content })
        : error(request, -32000, 400)
    })
    const client = await connectTo(peer, { discovery: { revision: '2026-07-28' } })
    expect(await client.callTool('a')).toEqual({ content })
    expect(client.revision).toBe('2025-11-25')
    await client.close()
  })
})

describe('the era of a server over a transport', () => {
  test('is modern after a discover result, for which the probe asks first [M-STDIO-027]', async () => {
    const peer = duplexPeer((message) => reply(message, discovered()))
    const client = await connectTo(peer)
    expect(client.revision).toBe('2026-07-28')
    expect(peer.messages.map((message) => message.method)).toEqual(['server/discover'])
    await client.close()
  })

  test.each([-32600, -32601, -32602, -32000, -1])(
    'is legacy after error %i, which leads to initialize on the same connection [M-STDIO-029]',
    async (code) => {
      const peer = duplexPeer((message) => legacyAnswer(message, refuse(message, code)))
      const client = await connectTo(peer)
      expect(client.revision).toBe('2025-11-25')
      expect(peer.messages.map((message) => message.method)).toEqual([
        'server/discover',
        'initialize',
        'notifications/initialized',
      ])
      await client.close()
    },
  )

  test.each([-32020, -32021, -32022])(
    'is not legacy after error %i, which never leads to initialize [M-STDIO-030]',
    async (code) => {
      const peer = duplexPeer((message) => refuse(message, code))
      await expect(connectTo(peer)).rejects.toBeInstanceOf(Error)
      expect(peer.received('initialize')).toHaveLength(0)
    },
  )

  test('is legacy after a timeout of the probe, and the late response is dropped [M-STDIO-032] [M-CANC-020]', async () => {
    let probe: JsonObject = {}
    const problems: Error[] = []
    const peer = duplexPeer((message) => {
      if (message.method === 'server/discover') probe = message
      if (message.method === 'tools/call') return reply(message, { content })
      return legacyAnswer(message, undefined)
    })
    const client = await connectTo(peer, { probeTimeoutMs: 20, onError: (e) => problems.push(e) })
    peer.send(reply(probe, discovered()))
    expect(await client.callTool('a')).toEqual({ content })
    expect(client.revision).toBe('2025-11-25')
    expect(problems).toEqual([])
    expect(peer.received('notifications/cancelled')).toEqual([])
    await client.close()
  })

  describe('a server that is slow to start', () => {
    /** Answers only once it was asked for a session, in the order given. */
    function slowPeer(...answers: ((asked: JsonObject[]) => JsonObject)[]) {
      const asked: JsonObject[] = []
      const peer = duplexPeer((message) => {
        if (message.method === 'tools/call') return reply(message, { content })
        if (message.id === undefined) return undefined
        asked.push(message)
        if (asked.length === 2) for (const answer of answers) peer.send(answer(asked))
        return undefined
      })
      return peer
    }
    const answerProbe = ([probe]: JsonObject[]) => reply(probe ?? {}, discovered())
    const refuseProbe = ([probe]: JsonObject[]) => refuse(probe ?? {}, -32601)
    const answerSession = ([, open]: JsonObject[]) => reply(open ?? {}, initialized())
    const refuseSession = ([, open]: JsonObject[]) => refuse(open ?? {}, -32601)

    test.each([
      ['answers both in order', [answerProbe, answerSession]],
      ['answers both the other way', [answerSession, answerProbe]],
      ['has no sessions', [answerProbe, refuseSession]],
      ['has no sessions, and says so first', [refuseSession, answerProbe]],
    ])('and %s is recognized by its revision', async (_what, answers) => {
      const problems: Error[] = []
      const peer = slowPeer(...answers)
      const client = await connectTo(peer, { probeTimeoutMs: 20, onError: (e) => problems.push(e) })
      expect(client.revision).toBe('2026-07-28')
      expect(await client.callTool('a')).toEqual({ content })
      expect(peer.received('initialize')).toHaveLength(1)
      expect(peer.received('notifications/initialized')).toEqual([])
      expect(peer.received('notifications/cancelled')).toEqual([])
      expect(problems).toEqual([])
      await client.close()
    })

    test.each([
      ['knows no probe', [refuseProbe, answerSession]],
      ['knows no probe, and says so last', [answerSession, refuseProbe]],
      ['answers no probe', [answerSession]],
    ])('and %s has the one session that it was asked for', async (_what, answers) => {
      const peer = slowPeer(...answers)
      const client = await connectTo(peer, { probeTimeoutMs: 20 })
      expect(client.revision).toBe('2025-11-25')
      expect(await client.callTool('a')).toEqual({ content })
      expect(peer.received('initialize')).toHaveLength(1)
      expect(peer.received('notifications/initialized')).toHaveLength(1)
      await client.close()
    })

    test('and of this package is asked nothing twice', async () => {
      const { transport, start } = delayed(createServer({ name: 's', version: '1' }))
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
      onTestFinished(() => void vi.useRealTimers())
      const connecting = connect(transport, { probeTimeoutMs: 20_000 })
      await vi.advanceTimersByTimeAsync(60_000)
      start()
      const client = await connecting
      expect(client.revision).toBe('2026-07-28')
      await client.close()
    })

    test('and rejects everything causes an error that says so', async () => {
      const peer = slowPeer(refuseSession, refuseProbe)
      await expect(connectTo(peer, { probeTimeoutMs: 20 })).rejects.toMatchObject({ code: -32601 })
    })

    test('is asked for no session by a client that has none', async () => {
      const peer = duplexPeer(() => undefined)
      const options = { probeTimeoutMs: 20, revision: '2026-07-28' } as const
      await expect(connectTo(peer, options)).rejects.toMatchObject({ code: 'VERSION_MISMATCH' })
      expect(peer.received('initialize')).toEqual([])
    })

    test('is not waited for longer than the timeout of the caller', async () => {
      const peer = duplexPeer(() => undefined)
      const signal = AbortSignal.timeout(60)
      const connecting = connectTo(peer, { probeTimeoutMs: 20, signal })
      await expect(connecting).rejects.toMatchObject({ code: 'ABORTED' })
    })
  })

  test.each([
    ['at once', 'server/discover', {}],
    ['late, when it is asked for a session too', 'initialize', { probeTimeoutMs: 20 }],
  ])(
    'is negotiated by a restart if the server exits at the probe %s [M-STDIO-031]',
    async (_when, last, options) => {
      const first = duplexPeer((message) => {
        if (message.method === last) first.close()
      })
      const second = duplexPeer((message) => legacyAnswer(message, undefined))
      const { transport } = first
      let current = transport
      let receiver: Parameters<typeof transport.start>[0] | undefined
      let restarts = 0
      const restartable: Transport = {
        start(given) {
          receiver = given
          return transport.start(given)
        },
        send: (frame) => current.send(frame),
        close: () => current.close(),
        async restart() {
          restarts++
          current = second.transport
          await current.start(receiver!)
        },
      }
      const client = await connect(restartable, options)
      expect(client.revision).toBe('2025-11-25')
      expect(restarts).toBe(1)
      expect(second.messages[0]?.method).toBe('initialize')
      expect(second.received('initialize')).toHaveLength(1)
      await client.close()
    },
  )

  test('causes an error if the server exits at the probe and cannot be restarted', async () => {
    const peer = duplexPeer(() => peer.close())
    await expect(connectTo(peer)).rejects.toMatchObject({ code: 'CLOSED' })
  })

  test('is probed by a modern-only client, which sends nothing else to a legacy server [M-STDIO-028]', async () => {
    const peer = duplexPeer((message) => refuse(message, -32601))
    await expect(connectTo(peer, { revision: '2026-07-28' })).rejects.toMatchObject({
      code: 'VERSION_MISMATCH',
    })
    expect(peer.messages.map((message) => message.method)).toEqual(['server/discover'])
  })
})

describe('fallback to HTTP+SSE', () => {
  test.each([400, 404, 405])(
    'is tried after status %i [L-HTTP-070] [M-COMPAT-028]',
    async (status) => {
      const stream = eventStream()
      const peer = httpPeer((request) => {
        if (request.method === 'GET') {
          stream.write('event: endpoint\ndata: /messages?s=1\n\n')
          return stream.response
        }
        if (request.url === endpoint) return new Response(null, { status })
        if (request.message.id === undefined) return new Response(null, { status: 202 })
        const body =
          request.message.method === 'initialize' ? initialized('2024-11-05') : { content }
        stream.event({ jsonrpc: '2.0', id: request.message.id, result: body })
        return new Response(null, { status: 202 })
      })
      const eras = new Map<string, string>()
      const client = await connectTo(peer, { versionCache: eras })
      expect(client.revision).toBe('2024-11-05')
      expect(await client.callTool('a')).toEqual({ content })
      expect(peer.requests.at(-1)?.url).toBe('https://peer.example/messages?s=1')
      expect(eras.get(endpoint)).toBe('http-sse')
      await client.close()
    },
  )

  test('is tried by default [L-HTTP-070] [M-COMPAT-028]', async () => {
    const { fetch } = oldestPeer()
    await using client = await connect('https://oldest.example/mcp', { fetch })
    expect(client.revision).toBe('2024-11-05')
    expect(await client.callTool('a')).toEqual({ content })
  })

  test('is off with "fallback: false", also for a server that is known to need it', async () => {
    for (const known of [new Map(), new Map([[endpoint, 'http-sse']])]) {
      const peer = oldestPeer()
      await expect(connectTo(peer, { fallback: false, versionCache: known })).rejects.toMatchObject(
        {
          code: 'HTTP',
          message: expect.stringContaining('HTTP+SSE: not tried without "fallback: httpSse"'),
        },
      )
      expect(peer.requests.every(({ method }) => method === 'POST')).toBe(true)
    }
  })

  test.each([401, 403, 406, 429, 500])(
    'is not tried after status %i to initialize',
    async (status) => {
      const peer = httpPeer((request) =>
        request.message.method === 'server/discover'
          ? new Response(null, { status: 400 })
          : new Response('why', { status }),
      )
      const failure = await connectTo(peer).catch((e: unknown) => e)
      expect((failure as SdkError).data).toMatchObject({ status })
      expect(peer.requests.filter((request) => request.method === 'GET')).toHaveLength(0)
    },
  )

  test('that fails too is reported with the first response', async () => {
    const peer = httpPeer((request) =>
      request.method === 'GET'
        ? new Response('<html>', { status: 200 })
        : new Response('no such thing', { status: 404 }),
    )
    const failure = await connectTo(peer).catch((e: unknown) => e)
    expect(failure).toMatchObject({ code: 'HTTP', data: { status: 404, body: 'no such thing' } })
  })

  test('is not tried when the 400 explains itself as a modern server does', async () => {
    const peer = httpPeer((request) =>
      error(request, request.message.method === 'initialize' ? -32022 : -32000, 400),
    )
    await expect(connectTo(peer)).rejects.toBeInstanceOf(ProtocolError)
    expect(peer.requests.filter((request) => request.method === 'GET')).toHaveLength(0)
  })
})

test('connecting can be aborted', async () => {
  const peer = httpPeer(() => new Promise(() => {}))
  const controller = new AbortController()
  const connecting = connectTo(peer, { signal: controller.signal })
  controller.abort()
  await expect(connecting).rejects.toMatchObject({ code: 'ABORTED' })
})

test('an unknown revision, or none, is refused before anything is sent [L-LIFE-008]', async () => {
  const peer = httpPeer(() => json({}))
  await expect(connectTo(peer, { revision: [] })).rejects.toMatchObject({
    code: 'VERSION_MISMATCH',
  })
  await expect(connectTo(peer, { revision: '1999-01-01' as '2026-07-28' })).rejects.toMatchObject({
    code: 'INVALID_USE',
  })
  expect(peer.requests).toHaveLength(0)
})

function init(request: ScriptedRequest): RequestInit {
  return { method: request.method, headers: request.headers, body: JSON.stringify(request.message) }
}

function legacyAnswer(message: JsonObject, other: unknown): unknown {
  if (message.method === 'initialize') return reply(message, initialized())
  return message.id === undefined ? undefined : other
}

describe('a revision that the caller pinned', () => {
  test('is not cached for the server: the next connection negotiates the newest again', async () => {
    const server = createServer({ name: 's', version: '1' })
    const handle = sessionHandler(server)
    const eras = new Map<string, string>()
    const open = async (options: ConnectOptions): Promise<string> => {
      const fetch = (url: string, init: RequestInit): Promise<Response> =>
        handle(new Request(url, init))
      const client = await connect('http://localhost/mcp', {
        fetch,
        versionCache: eras,
        ...options,
      })
      await client.close()
      return client.revision
    }
    expect(await open({})).toBe('2026-07-28')
    expect(await open({ revision: '2025-06-18' })).toBe('2025-06-18')
    expect(await open({})).toBe('2026-07-28')
    eras.set('http://localhost/mcp', 'legacy')
    expect(await open({ revision: '2026-07-28' })).toBe('2026-07-28')
    expect(eras.size).toBe(0)
  })
})
