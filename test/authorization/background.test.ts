// Background requests: they may refresh a token, but open no page, and discard nothing.
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createReconnectingClient, type ConnectOptions } from '../../src/presets/client.ts'
import type { Revision } from '../../src/index.ts'
import { IN_PROCESS } from '../patience.ts'
import { createWorld, ISSUER, json, MCP, openStore, type Differences, type World } from './world.ts'

const AUTHORIZE = `${ISSUER}/authorize`

/** A world that answers some requests to the MCP server with a 401, even with a valid token. */
function refusing(
  refuses: (init: RequestInit) => boolean,
  differences: Differences = {},
): { world: World; fetch: World['fetch']; refused: () => number } {
  const world = createWorld(differences)
  let count = 0
  const fetch: World['fetch'] = async (url, init = {}) => {
    if (url !== MCP || !refuses(init)) return world.fetch(url, init)
    count++
    return json({}, 401, { 'www-authenticate': 'Bearer error="invalid_token"' })
  }
  return { world, fetch, refused: () => count }
}

/** Waits until an expectation holds, while the timers of the client run down. */
function inTime(expectation: () => void): Promise<void> {
  return vi.waitFor(async () => {
    await vi.advanceTimersByTimeAsync(1_000)
    expectation()
  }, IN_PROCESS)
}

describe('a stream that the server always refuses with 401', () => {
  it.each([
    ['2025-11-25', {}],
    ['2025-11-25', { token: { refresh_token: undefined } }],
    ['2026-07-28', {}],
    ['2026-07-28', { token: { refresh_token: undefined } }],
  ] as const)(
    'opens no page in %s with %j, and its token is still good for calls [C006]',
    async (revision: Revision, differences: Differences) => {
      const { world, fetch, refused } = refusing(({ method, headers }) => {
        const listens = new Headers(headers).get('mcp-method') === 'subscriptions/listen'
        return method === 'GET' || listens
      }, differences)
      const tokens = openStore()
      const errors: Error[] = []
      const options: ConnectOptions = {
        fetch,
        revision,
        onToolsChanged: () => {},
        onError: (error) => errors.push(error),
      }
      await using client = await world.connect(world.signIn({ fetch, tokens }), options)
      await vi.waitFor(() => expect(errors).toHaveLength(1), IN_PROCESS)
      expect(errors[0]).toMatchObject({ code: 'UNAUTHORIZED' })
      expect(refused()).toBeGreaterThan(0)
      await client.callTool('book')
      expect(world.to(AUTHORIZE)).toHaveLength(1)
      expect(tokens.values.get(`token ${MCP}`)).toBeDefined()
    },
  )
})

describe('a stream whose token has ended, and cannot be renewed', () => {
  it.each(['2025-11-25', '2026-07-28'] as const)(
    'opens again in %s after the user signed in for a call [C006]',
    async (revision) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
      onTestFinished(() => void vi.useRealTimers())
      const world = createWorld({ token: { refresh_token: undefined } })
      const errors: Error[] = []
      let changes = 0
      let streams = 0
      const cut = new AbortController()
      const fetch: World['fetch'] = async (url, init = {}) => {
        const listens = new Headers(init.headers).get('mcp-method') === 'subscriptions/listen'
        const response = await world.fetch(url, init)
        const opens = url === MCP && (init.method === 'GET' || listens) && response.ok
        if (!opens || !response.body) return response
        if (++streams > 1) return response
        const { readable, writable } = new TransformStream()
        response.body.pipeTo(writable, { signal: cut.signal }).catch(() => {})
        return new Response(readable, response)
      }
      await using client = await world.connect(world.signIn({ fetch }), {
        fetch,
        revision,
        onToolsChanged: () => changes++,
        onError: (error) => errors.push(error),
      })
      await vi.waitFor(() => expect(streams).toBe(1), IN_PROCESS)
      world.valid.clear()
      cut.abort(new Error('The connection was cut'))
      await inTime(() => expect(errors).toHaveLength(1))
      expect(errors[0]).toMatchObject({ code: 'UNAUTHORIZED' })
      expect(world.to(AUTHORIZE)).toHaveLength(1)
      await client.callTool('book')
      expect(world.to(AUTHORIZE)).toHaveLength(2)
      await inTime(() => expect(streams).toBe(2))
      // What changed meanwhile went unheard, so it is announced; a session resumes by event ids
      const unheard = revision === '2026-07-28' ? 1 : 0
      await inTime(() => expect(changes).toBe(unheard))
    },
  )
})

describe('a message that expects no response', () => {
  it('opens no page when the server refuses it with 401 [C006]', async () => {
    const { world, fetch, refused } = refusing(
      ({ body }) => String(body).includes('notifications/roots'),
      { token: { refresh_token: undefined } },
    )
    await using client = await world.connect(world.signIn({ fetch }), {
      fetch,
      revision: '2025-11-25',
      roots: [],
    })
    await expect(client.rootsChanged()).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
    expect(refused()).toBe(1)
    expect(world.to(AUTHORIZE)).toHaveLength(1)
  })

  it('opens no page when it ends a session whose token has ended [C006]', async () => {
    const world = createWorld({ token: { refresh_token: undefined } })
    const client = await world.connect(world.signIn(), { revision: '2025-11-25' })
    world.valid.clear()
    await client.close()
    expect(world.to(MCP).at(-1)?.method).toBe('DELETE')
    expect(world.to(AUTHORIZE)).toHaveLength(1)
  })

  it('requests no additional scopes [C006]', async () => {
    const world = createWorld()
    const fetch: World['fetch'] = async (url, init) =>
      init?.method === 'GET' && url === MCP
        ? json({}, 403, { 'www-authenticate': 'Bearer error="insufficient_scope", scope="all"' })
        : world.fetch(url, init)
    const errors: Error[] = []
    await using _ = await world.connect(world.signIn({ fetch }), {
      fetch,
      revision: '2025-11-25',
      onToolsChanged: () => {},
      onError: (error) => errors.push(error),
    })
    await vi.waitFor(() => expect(errors).toHaveLength(1), IN_PROCESS)
    expect(errors[0]).toMatchObject({ code: 'FORBIDDEN' })
    expect(world.to(AUTHORIZE)).toHaveLength(1)
  })

  it('is also a message that the application sends in the background [C006]', async () => {
    const world = createWorld({ token: { refresh_token: undefined } })
    await using client = await world.connect(world.signIn())
    world.valid.clear()
    const poll = client.listAllTools({ background: true, cache: 'reload' })
    await expect(poll).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
    expect(world.to(AUTHORIZE)).toHaveLength(1)
    await client.listAllTools()
    expect(world.to(AUTHORIZE)).toHaveLength(2)
  })
})

describe('a connection that reconnects automatically', () => {
  it('opens no page, but fails until a call opens it again [C006]', async () => {
    const world = createWorld({ token: { refresh_token: undefined } })
    let offline = false
    const fetch: World['fetch'] = async (url, init) => {
      if (offline && url === MCP) throw new TypeError('No network')
      return world.fetch(url, init)
    }
    const live = createReconnectingClient(MCP, {
      auth: world.signIn({ fetch }),
      fetch,
      revision: '2026-07-28',
      retryMs: 1,
    })
    const client = await live.ready()
    offline = true
    await client.callTool('book').catch(() => {})
    world.valid.clear()
    offline = false
    const status = () => live.getSnapshot().status
    await vi.waitFor(() => expect(status()).toBe('failed'), IN_PROCESS)
    expect(live.getSnapshot()).toMatchObject({ error: { code: 'UNAUTHORIZED' } })
    expect(world.to(AUTHORIZE)).toHaveLength(1)
    await live.ready()
    expect(world.to(AUTHORIZE)).toHaveLength(2)
    await live.close()
  })
})
