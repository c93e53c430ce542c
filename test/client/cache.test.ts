import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { JsonObject } from '../../src/protocol/types.ts'
import { connect, resultCache } from '../../src/presets/client.ts'
import {
  connectTo,
  discovered,
  duplexPeer,
  error,
  initialized,
  legacyPeer,
  modernPeer,
  reply,
  refuse,
  result,
  type HttpPeer,
} from './peers.ts'
import { IN_PROCESS } from '../patience.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A server whose results may be cached as given. */
function cachingPeer(hints: JsonObject): HttpPeer {
  return modernPeer((request) =>
    result(request, {
      tools: [],
      prompts: [],
      resources: [],
      resourceTemplates: [],
      contents: [{ uri: 'a', text: '' }],
      messages: [],
      content: [],
      ...hints,
    }),
  )
}

const minute = { ttlMs: 60_000, cacheScope: 'private' }

describe('results', () => {
  test('are cached without an option [M-CACHE-017]', async () => {
    const { fetch, received: sent } = cachingPeer(minute)
    await using client = await connect('https://caching.example/mcp', { fetch })
    await client.listAllTools()
    await client.listAllTools()
    expect(sent('tools/list')).toHaveLength(1)
  })

  test('are kept until their time is up, not longer [M-CACHE-017] [M-CACHE-020] [M-CACHE-021] [M-CACHE-022]', async () => {
    const peer = cachingPeer(minute)
    const client = await connectTo(peer)
    const count = (): number => peer.received('tools/list').length
    await client.listAllTools()
    vi.advanceTimersByTime(59_999)
    await client.listAllTools()
    expect(count()).toBe(1)
    vi.advanceTimersByTime(1)
    expect(count()).toBe(1)
    await client.listAllTools()
    expect(count()).toBe(2)
    await client.close()
  })

  test.each([{ ttlMs: 0 }, { ttlMs: -5 }, {}, { ttlMs: '60000' }, { ttlMs: null }])(
    'with %j are stale at once [M-CACHE-016] [M-CACHE-018] [M-CACHE-019]',
    async (hints) => {
      const peer = cachingPeer({ cacheScope: 'public', ...hints })
      const client = await connectTo(peer)
      await client.listAllTools()
      await client.listAllTools()
      expect(peer.received('tools/list')).toHaveLength(2)
      await client.close()
    },
  )

  test('are found by method and params, independent of their _meta [M-CACHE-012] [M-CACHE-014]', async () => {
    const peer = cachingPeer(minute)
    const client = await connectTo(peer)
    await client.readResource('a:1')
    await client.readResource('a:1', { meta: { x: 1 }, onProgress() {} })
    await client.request('resources/read', { uri: 'a:1', extra: 1 })
    await client.readResource('a:2')
    expect(peer.received('resources/read')).toHaveLength(3)
    await client.request('tools/list', { cursor: 'x' })
    await client.request('tools/list', {})
    expect(peer.received('tools/list')).toHaveLength(2)
    await client.close()
  })

  test('of calls and prompts are never kept', async () => {
    const peer = cachingPeer(minute)
    const client = await connectTo(peer)
    for (const _ of [1, 2]) {
      await client.callTool('a')
      await client.getPrompt('a')
    }
    expect(peer.received('tools/call')).toHaveLength(2)
    expect(peer.received('prompts/get')).toHaveLength(2)
    await client.close()
  })

  test('of requests that carried answers are never kept [M-CACHE-015] [M-MRTR-064]', async () => {
    const peer = duplexPeer((message) => {
      if (message.method === 'server/discover') return reply(message, discovered())
      const { requestState } = message.params as JsonObject
      return reply(
        message,
        requestState
          ? { contents: [], ...minute }
          : { resultType: 'input_required', requestState: 's' },
      )
    })
    const client = await connectTo(peer)
    for (let round = 1; round <= 2; round++) {
      const read = client.readResource('a:b')
      await vi.advanceTimersByTimeAsync(100)
      await read
      await client.request('resources/read', { uri: 'a:b', requestState: 's' })
      expect(peer.received('resources/read')).toHaveLength(round * 3)
    }
    await client.close()
  })

  test('that were under way when something changed are not kept [M-CACHE-029]', async () => {
    const held: JsonObject[] = []
    const peer = duplexPeer((message) => {
      if (message.method === 'server/discover') return refuse(message, -32601)
      if (message.method === 'initialize') return reply(message, initialized())
      if (message.id !== undefined) held.push(message)
      return undefined
    })
    const client = await connectTo(peer)
    const first = client.listAllTools()
    await vi.waitFor(() => expect(held).toHaveLength(1), IN_PROCESS)
    peer.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
    peer.send(reply(held[0]!, { tools: [], ...minute }))
    await first
    const second = client.listAllTools()
    await vi.waitFor(() => expect(held).toHaveLength(2), IN_PROCESS)
    peer.send(reply(held[1]!, { tools: [], ...minute }))
    await second
    await client.listAllTools()
    expect(held).toHaveLength(2)
    await client.close()
  })

  test('are requested again with "cache: \'reload\'"', async () => {
    const peer = cachingPeer(minute)
    const client = await connectTo(peer)
    await client.listAllTools()
    await client.listAllTools({ cache: 'reload' })
    expect(peer.received('tools/list')).toHaveLength(2)
    await client.listAllTools()
    expect(peer.received('tools/list')).toHaveLength(2)
    await client.close()
  })

  test('are copies that the caller may modify', async () => {
    const peer = cachingPeer(minute)
    const client = await connectTo(peer)
    for (const _ of [1, 2, 3]) {
      const { contents } = await client.readResource('a:b')
      expect(contents).toHaveLength(1)
      contents.length = 0
    }
    expect(peer.received('resources/read')).toHaveLength(1)
    await client.close()
  })

  test('are bounded in number, and the least recently used is evicted first [M-CACHE-040]', async () => {
    const peer = cachingPeer(minute)
    const client = await connectTo(peer, { cache: resultCache({ maxEntries: 2 }) })
    for (const uri of ['a:1', 'a:2', 'a:1', 'a:3', 'a:1', 'a:2']) await client.readResource(uri)
    expect(peer.received('resources/read').map((request) => request.message.params?.uri)).toEqual([
      'a:1',
      'a:2',
      'a:3',
      'a:2',
    ])
    await client.close()
  })

  test('are bounded in total length [M-CACHE-040]', async () => {
    const peer = cachingPeer(minute)
    const one = await connectTo(peer, { cache: false })
    const { length } = JSON.stringify(await one.readResource('a:1'))
    await one.close()
    for (const [maxLength, requests] of [
      [2 * length, 4],
      [3 * length, 3],
    ] as const) {
      const client = await connectTo(peer, { cache: resultCache({ maxLength }) })
      const before = peer.received('resources/read').length
      for (const uri of ['a:1', 'a:2', 'a:1', 'a:3', 'a:1', 'a:2']) await client.readResource(uri)
      expect(peer.received('resources/read')).toHaveLength(before + requests)
      await client.close()
    }
  })

  test.each([
    ['with "cache: false"', { cache: false }],
    ['with a cache of no entries', { cache: resultCache({ maxEntries: 0 }) }],
    ['with a cache of no length', { cache: resultCache({ maxLength: 0 }) }],
  ] as const)('are not cached %s [M-CACHE-040]', async (_how, options) => {
    const peer = cachingPeer(minute)
    const client = await connectTo(peer, options)
    await client.listAllTools()
    await client.listAllTools()
    expect(peer.received('tools/list')).toHaveLength(2)
    await client.close()
  })

  test('that are private are not shown to another principal, public ones are [M-CACHE-013] [M-CACHE-026] [M-CACHE-027]', async () => {
    for (const [cacheScope, requests] of [
      ['private', 2],
      ['odd', 2],
      ['public', 1],
    ] as const) {
      const peer = cachingPeer({ ttlMs: 60_000, cacheScope })
      let token = 'a'
      const client = await connectTo(peer, {
        headers: () => ({ authorization: `Bearer ${token}` }),
      })
      await client.listAllTools()
      token = 'b'
      await client.listAllTools()
      await client.listAllTools()
      expect(peer.received('tools/list')).toHaveLength(requests)
      await client.close()
    }
  })

  test('of servers with sessions have no time and are not kept [M-COMPAT-033]', async () => {
    const peer = legacyPeer((request) => result(request, { tools: [] }))
    const client = await connectTo(peer)
    await client.listAllTools()
    await client.listAllTools()
    expect(peer.received('tools/list')).toHaveLength(2)
    await client.close()
  })

  test('of a discovery are requested again by a ping only', async () => {
    const peer = modernPeer((request) => result(request, {}))
    const client = await connectTo(peer)
    await client.ping()
    expect(peer.received('server/discover')).toHaveLength(2)
    await client.close()
  })
})

describe('a change', () => {
  test('makes the kept results of its kind stale at once [M-CACHE-029] [M-CACHE-030] [M-CACHE-031]', async () => {
    const peer = duplexPeer((message) => {
      if (message.method === 'server/discover') return refuse(message, -32601)
      if (message.method === 'initialize') return reply(message, initialized())
      const lists = {
        tools: [],
        prompts: [],
        resources: [],
        resourceTemplates: [],
        contents: [],
        nextCursor: (message.params as JsonObject | undefined)?.cursor ? undefined : 'p2',
      }
      return message.id === undefined ? undefined : reply(message, { ...lists, ...minute })
    })
    const client = await connectTo(peer)
    const uris = ['file:///dir', 'file:///dir/a', 'file:///dir/b', 'file:///directory']
    const askAll = async (): Promise<unknown[]> => {
      const before = peer.messages.length
      await client.listAllTools()
      await client.listAllPrompts()
      await client.listAllResources()
      await client.listAllResourceTemplates()
      for (const uri of uris) await client.readResource(uri)
      return peer.messages
        .slice(before)
        .map(({ method, params }) => (params?.uri as string | undefined) ?? method)
    }
    expect(await askAll()).toHaveLength(12)
    expect(await askAll()).toEqual([])
    const change = async (name: string, params?: JsonObject): Promise<unknown[]> => {
      peer.send({ jsonrpc: '2.0', method: `notifications/${name}`, ...(params && { params }) })
      await vi.advanceTimersByTimeAsync(0)
      return askAll()
    }
    expect(await change('tools/list_changed')).toEqual(['tools/list', 'tools/list'])
    expect(await change('prompts/list_changed')).toEqual(['prompts/list', 'prompts/list'])
    expect(await change('resources/list_changed')).toEqual([
      'resources/list',
      'resources/list',
      'resources/templates/list',
      'resources/templates/list',
    ])
    expect(await change('resources/updated', { uri: 'file:///dir/a' })).toEqual([
      'file:///dir',
      'file:///dir/a',
    ])
    expect(await change('resources/updated', { uri: 'file:///dir' })).toEqual([
      'file:///dir',
      'file:///dir/a',
      'file:///dir/b',
    ])
    await client.close()
  })
})

describe('pages', () => {
  test('have a time each, and are requested by their cursors [M-CACHE-033] [M-CACHE-034]', async () => {
    const peer = modernPeer((request) =>
      request.message.params?.cursor === 'p2'
        ? result(request, { tools: [], ttlMs: 1_000 })
        : result(request, { tools: [], nextCursor: 'p2', ttlMs: 9_000 }),
    )
    const client = await connectTo(peer)
    await client.listAllTools()
    vi.advanceTimersByTime(5_000)
    await client.listAllTools()
    expect(peer.received('tools/list').map((request) => request.message.params?.cursor)).toEqual([
      undefined,
      'p2',
      'p2',
    ])
    await client.listAllTools({ cache: 'reload' })
    expect(peer.received('tools/list')).toHaveLength(5)
    await client.close()
  })

  test('whose cursor is no longer valid are all dropped, and the list starts again [M-CACHE-036]', async () => {
    let generation = 1
    const peer = modernPeer((request) => {
      const cursor = request.message.params?.cursor
      if (cursor === undefined)
        return result(request, { tools: [], nextCursor: `g${generation}`, ttlMs: 60_000 })
      return cursor === `g${generation}` ? result(request, { tools: [] }) : error(request, -32602)
    })
    const client = await connectTo(peer)
    await client.listAllTools()
    generation = 2
    expect(await client.listAllTools()).toEqual([])
    expect(peer.received('tools/list').map((request) => request.message.params?.cursor)).toEqual([
      undefined,
      'g1',
      'g1',
      undefined,
      'g2',
    ])
    await client.close()
  })
})
