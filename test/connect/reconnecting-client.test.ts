// The observable connection: what it shows, and when it connects again.
import type {
  ConnectionState,
  ReconnectingOptions,
} from '../../src/connect/reconnecting-options.ts'
import { settled } from '../settled.ts'
import { createReconnectingClient, observeSignIn, type ReconnectingClient } from 'edgewise/client'
import { createHandler, createServer, serveTransport } from 'edgewise/server'
import { inMemoryTransports, type Transport } from 'edgewise/transport'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'

const server = createServer({ name: 'live', version: '1' })
server.tool('greet', {}, () => 'hello')

const quick = { retryMs: 1, maxRetryMs: 5 } as const
const URL_ = 'https://live.test/mcp'

const opened: ReconnectingClient[] = []
afterEach(() => Promise.all(opened.splice(0).map((connection) => connection.close())))

/** Opens a connection, and writes down each state that it shows. */
function begin(...args: Parameters<typeof createReconnectingClient>): {
  connection: ReconnectingClient
  states: ConnectionState[]
  statuses: () => string[]
} {
  const connection = createReconnectingClient(...args)
  opened.push(connection)
  const states: ConnectionState[] = [connection.getSnapshot()]
  connection.subscribe(() => states.push(connection.getSnapshot()))
  connection.open()
  return { connection, states, statuses: () => states.map(({ status }) => status) }
}

/** A network that can be taken away. */
function network(): ReconnectingOptions & { up: boolean; sent: number } {
  const handle = createHandler(server)
  // Not enumerable, as they are no options
  const hidden = { writable: true, enumerable: false }
  const options = {
    ...quick,
    async fetch(url: string, init: RequestInit): Promise<Response> {
      net.sent++
      if (!net.up) throw new TypeError('Failed to fetch')
      return handle(new Request(url, init))
    },
  }
  const net: ReconnectingOptions & { up: boolean; sent: number } = Object.defineProperties(
    Object.assign(options, { up: true, sent: 0 }),
    { up: hidden, sent: hidden },
  )
  return net
}

describe('An observable connection', () => {
  it('shows that it connects and is ready; each state is one object until the next', async () => {
    const { connection, states, statuses } = begin(URL_, network())
    const client = await connection.ready()
    expect(statuses()).toEqual(['idle', 'connecting', 'ready'])
    expect(connection.getSnapshot()).toBe(connection.getSnapshot())
    expect(states[2]).toEqual({ status: 'ready', client })
    expect((await client.callTool('greet')).content).toEqual([{ type: 'text', text: 'hello' }])
  })

  it('does nothing until it is opened, and opens once', async () => {
    const net = network()
    const connection = createReconnectingClient(URL_, net)
    opened.push(connection)
    expect(connection.getSnapshot()).toEqual({ status: 'idle' })
    expect(net.sent).toBe(0)
    connection.open()
    connection.open()
    await connection.ready()
    expect(net.sent).toBe(1)
  })

  it('fails with the reason when it never worked, and can be opened again', async () => {
    const net = network()
    net.up = false
    const { connection, states, statuses } = begin(URL_, net)
    await expect(connection.ready()).rejects.toMatchObject({ code: 'NETWORK' })
    expect(statuses()).toEqual(['idle', 'connecting', 'failed'])
    expect(states[2]).toMatchObject({ error: { code: 'NETWORK' } })
    net.up = true
    await connection.ready()
    expect(statuses().slice(3)).toEqual(['connecting', 'ready'])
  })

  it('shows over HTTP that the server cannot be reached, and keeps the client', async () => {
    const net = Object.assign(network(), { maxRetries: Infinity })
    const { connection, states, statuses } = begin(URL_, net)
    const client = await connection.ready()
    net.up = false
    await expect(client.callTool('greet')).rejects.toMatchObject({ code: 'NETWORK' })
    expect(connection.getSnapshot()).toMatchObject({ status: 'reconnecting', client })
    await vi.waitUntil(
      () => states.some((state) => 'attempt' in state && state.attempt >= 2),
      30_000,
    )
    net.up = true
    expect(await connection.ready()).toBe(client)
    expect(new Set(statuses().slice(3))).toEqual(new Set(['reconnecting', 'ready']))
  })

  it('stops after the maximum of consecutive attempts', async () => {
    const net = network()
    const fetch: ReconnectingOptions['fetch'] = (url, init) => net.fetch!(url, init)
    const { connection, states } = begin(URL_, { ...quick, maxRetries: 3, fetch })
    const client = await connection.ready()
    net.up = false
    await expect(client.callTool('greet')).rejects.toMatchObject({ code: 'NETWORK' })
    await vi.waitUntil(() => connection.getSnapshot().status === 'failed', 30_000)
    expect(states.at(-1)).toMatchObject({ error: { code: 'NETWORK' } })
    expect(states.filter(({ status }) => status === 'reconnecting')).toHaveLength(3)
  })

  it('is not affected by errors of aborted requests', async () => {
    const { connection } = begin(URL_, {
      ...quick,
      fetch: async (url, init) => {
        if (String(init.body).includes('tools/call')) {
          await new Promise((_resolve, reject) => {
            init.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error))
          })
        }
        return createHandler(server)(new Request(url, init))
      },
    })
    const client = await connection.ready()
    const call = client.callTool('greet', {}, { signal: AbortSignal.timeout(5) })
    await expect(call).rejects.toMatchObject({ code: 'ABORTED' })
    expect(connection.getSnapshot().status).toBe('ready')
  })

  it('connects again when a transport ends, with a new client', async () => {
    const ends: Transport[] = []
    const { connection, statuses } = begin(() => {
      const [near, far] = inMemoryTransports()
      void serveTransport(server, far)
      ends.push(far)
      return near
    }, quick)
    const first = await connection.ready()
    await ends[0]?.close()
    await vi.waitUntil(() => ends.length === 2, 30_000)
    const second = await connection.ready()
    expect(second).not.toBe(first)
    expect(statuses()).toEqual(['idle', 'connecting', 'ready', 'reconnecting', 'ready'])
    await expect(first.callTool('greet')).rejects.toMatchObject({ code: 'CLOSED' })
    expect((await second.callTool('greet')).content).toHaveLength(1)
  })

  it('closes an abandoned transport, whose end does not end the next one', async () => {
    const ends: { far: Transport; closed: boolean }[] = []
    let mute = true
    const { connection, statuses } = begin(() => {
      const [near, far] = inMemoryTransports()
      const end = { far, closed: false }
      void serveTransport(server, far)
      const isMute = ends.push(end) === 1
      return {
        start: (receiver) => near.start(receiver),
        // Closed only by the server, later
        close: async () => void (end.closed = true),
        send(frame) {
          const isPing = 'method' in frame && frame.method === 'server/discover'
          return isMute && !mute && isPing ? Promise.resolve() : near.send(frame)
        },
      }
    }, quick)
    await connection.ready()
    mute = false
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    connection.check()
    await vi.waitUntil(() => vi.getTimerCount() > 0)
    await vi.advanceTimersByTimeAsync(10_000)
    await vi.waitUntil(() => ends.length === 2, 30_000)
    await connection.ready()
    expect(ends.map(({ closed }) => closed)).toEqual([true, false])
    await ends[0]?.far.close()
    await settled()
    expect(statuses()).toEqual(['idle', 'connecting', 'ready', 'reconnecting', 'ready'])
  })

  it('abandons a transport that is still starting when it is closed', async () => {
    let closed = 0
    const { connection } = begin(() => ({
      start: () => new Promise<never>(() => {}),
      send: () => Promise.resolve(),
      close: async () => void closed++,
    }))
    await Promise.resolve()
    await connection.close()
    await vi.waitUntil(() => closed === 1, 30_000)
  })

  it('looks at once when it is woken', async () => {
    let wake: (() => void) | undefined
    let stopped = false
    const net = network()
    const options: ReconnectingOptions = {
      ...net,
      retryMs: 3_600_000,
      maxRetryMs: 3_600_000,
      subscribeToWake: (check) => {
        wake = check
        return () => (stopped = true)
      },
      fetch: (url, init) => net.fetch!(url, init),
    }
    const { connection } = begin(URL_, options)
    const client = await connection.ready()
    net.up = false
    await expect(client.ping()).rejects.toMatchObject({ code: 'NETWORK' })
    expect(connection.getSnapshot().status).toBe('reconnecting')
    net.up = true
    await vi.waitUntil(() => {
      wake?.()
      return connection.getSnapshot().status === 'ready'
    }, 30_000)
    await connection.close()
    await vi.waitUntil(() => stopped, 30_000)
  })

  it('retries at once when it was woken during a failed attempt', async () => {
    let wake = (): void => {}
    const attempts: (() => void)[] = []
    const net = network()
    const { connection } = begin(URL_, {
      retryMs: 3_600_000,
      maxRetryMs: 3_600_000,
      subscribeToWake: (check) => {
        wake = check
        return () => {}
      },
      fetch: async (url, init) => {
        if (connection.getSnapshot().status === 'reconnecting') {
          await new Promise<void>((resolve) => attempts.push(resolve))
        }
        return net.fetch!(url, init)
      },
    })
    const client = await connection.ready()
    net.up = false
    await expect(client.ping()).rejects.toMatchObject({ code: 'NETWORK' })
    await vi.waitUntil(() => {
      wake()
      return attempts.length === 1
    }, 30_000)
    wake()
    attempts[0]?.()
    await vi.waitUntil(() => attempts.length === 2, 30_000)
    net.up = true
    attempts[1]?.()
    expect(await connection.ready()).toBe(client)
  })

  it('keeps trying while a proxy answers for a restarting server', async () => {
    const net = Object.assign(network(), { maxRetries: Infinity })
    let busy = 0
    const { connection, statuses } = begin(URL_, {
      ...net,
      fetch: (url, init) =>
        busy-- > 0 ? Promise.resolve(new Response(null, { status: 502 })) : net.fetch!(url, init),
    })
    const client = await connection.ready()
    net.up = false
    await expect(client.ping()).rejects.toMatchObject({ code: 'NETWORK' })
    busy = 3
    net.up = true
    expect(await connection.ready()).toBe(client)
    expect(busy).toBeLessThan(0)
    expect(statuses()).not.toContain('failed')
  })

  it('waits for the network while offline, also before the first connection and without a limit', async () => {
    const offline = new Error('offline')
    const net = Object.assign(network(), { maxRetries: 2 })
    const { connection, states, statuses } = begin(URL_, {
      ...net,
      isOffline: (error) => error.cause === offline,
      fetch: (url, init) => (net.up ? net.fetch!(url, init) : Promise.reject(offline)),
    })
    net.up = false
    const goneFor = (attempts: number): boolean => {
      const state = connection.getSnapshot()
      return state.status === 'reconnecting' && state.attempt > attempts
    }
    await vi.waitUntil(() => goneFor(4), 30_000)
    expect(states[2]).toMatchObject({ status: 'reconnecting', error: { cause: offline } })
    net.up = true
    const client = await connection.ready()
    net.up = false
    connection.check()
    await vi.waitUntil(() => goneFor(4), 30_000)
    net.up = true
    expect(await connection.ready()).toBe(client)
    expect(statuses()).not.toContain('failed')
  })

  it('does not count attempts while offline', async () => {
    const offline = new Error('offline')
    const net = Object.assign(network(), { maxRetries: 3 })
    let isOffline = false
    const { connection } = begin(URL_, {
      ...net,
      isOffline: (error) => error.cause === offline,
      fetch: (url, init) => (isOffline ? Promise.reject(offline) : net.fetch!(url, init)),
    })
    await connection.ready()
    isOffline = true
    connection.check()
    await vi.waitUntil(() => {
      const state = connection.getSnapshot()
      return state.status === 'reconnecting' && state.attempt > 4
    }, 30_000)
    const { sent } = net
    net.up = false
    isOffline = false
    await vi.waitUntil(() => connection.getSnapshot().status === 'failed', 30_000)
    expect(net.sent - sent).toBe(3)
  })

  it('continues when a listener throws, and reports the error', async () => {
    const problems: unknown[] = []
    const connection = createReconnectingClient(URL_, {
      ...network(),
      onError: (e) => problems.push(e),
    })
    opened.push(connection)
    const bad = new Error('bad listener')
    connection.subscribe(() => {
      throw bad
    })
    const received: string[] = []
    connection.subscribe(() => received.push(connection.getSnapshot().status))
    connection.open()
    await connection.ready()
    await connection.close()
    expect(received).toEqual(['connecting', 'ready', 'idle'])
    expect(problems).toEqual([bad, bad, bad])
  })

  it('fails when it cannot subscribe to wake-up events', async () => {
    const { connection } = begin(URL_, {
      ...network(),
      subscribeToWake: () => {
        throw new Error('no window')
      },
    })
    await expect(connection.ready()).rejects.toThrow('no window')
    expect(connection.getSnapshot().status).toBe('failed')
  })

  it('detects by a health check that an idle server is gone', async () => {
    const net = network()
    const { connection, statuses } = begin(URL_, net)
    await connection.ready()
    net.up = false
    connection.check()
    // It gives up soon afterwards
    await vi.waitUntil(() => statuses().includes('reconnecting'), 30_000)
  })

  it('can be closed while it connects, and opened again', async () => {
    const problems: unknown[] = []
    const { connection, statuses } = begin(URL_, {
      ...network(),
      onError: (error) => problems.push(error),
    })
    await connection.close()
    connection.open()
    await connection.ready()
    expect(statuses()).toEqual(['idle', 'connecting', 'idle', 'connecting', 'ready'])
    expect(problems).toEqual([])
  })

  it('rejects pending waits for the client when it is closed', async () => {
    const { connection } = begin(URL_, network())
    const waiting = connection.ready()
    await connection.close()
    await expect(waiting).rejects.toMatchObject({ code: 'CLOSED' })
  })
})

describe('A connection whose user has to sign in', () => {
  it('continues when a listener of its sign-in throws', async () => {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
    const interaction = observeSignIn({
      begin: () => ({ redirectUri: '/back', go: async (url) => `${url}?code=1` }),
    })
    const bad = new Error('bad listener')
    interaction.subscribe(() => {
      throw bad
    })
    const visit = await interaction.begin(undefined)
    const { signal } = new AbortController()
    expect(await visit.go('https://auth.test/', '', signal)).toBe('https://auth.test/?code=1')
    expect(logged.mock.calls).toEqual([[bad], [bad]])
    logged.mockRestore()
  })

  it('shows the URL meanwhile, and is as before when that is done', async () => {
    const handle = createHandler(server)
    let finish: (() => void) | undefined
    const interaction = observeSignIn({
      begin: () => ({
        redirectUri: 'https://app.test/back',
        go: () =>
          new Promise<string>((resolve) => (finish = () => resolve('https://app.test/back'))),
      }),
    })
    let token: string | undefined
    const { connection, states, statuses } = begin(URL_, {
      ...quick,
      interaction,
      auth: {
        headers: (): Record<string, string> => (token ? { authorization: token } : {}),
        async onChallenge() {
          const visit = await interaction.begin(undefined)
          await visit.go('https://auth.test/authorize', '', new AbortController().signal)
          token = 'Bearer t'
          return true
        },
      },
      fetch: async (url, init) =>
        new Headers(init.headers).has('authorization')
          ? handle(new Request(url, init))
          : new Response(null, { status: 401 }),
    })
    await vi.waitUntil(() => finish, 30_000)
    expect(states.at(-1)).toEqual({
      status: 'authenticating',
      url: 'https://auth.test/authorize',
    })
    finish?.()
    await connection.ready()
    expect(statuses()).toEqual(['idle', 'connecting', 'authenticating', 'connecting', 'ready'])
  })
})
