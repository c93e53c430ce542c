import { describe, expect, test } from 'vitest'
import type { Client, ConnectOptions } from '../../src/presets/client.ts'
import type { JsonObject } from '../../src/protocol/types.ts'
import { connectTo, discovered, duplexPeer, reply, type DuplexPeer } from './peers.ts'

/** A server whose `method` gives pages, each with the cursor of the next. */
function pagedPeer(
  method: string,
  member: string,
  pages: Map<unknown, [unknown[], unknown]>,
): DuplexPeer {
  return duplexPeer((message) => {
    if (message.method === 'server/discover') return reply(message, discovered())
    if (message.method !== method) return undefined
    const { cursor } = message.params as JsonObject
    const [page, next] = pages.get(cursor) ?? [[], undefined]
    return reply(message, { [member]: page, nextCursor: next })
  })
}

function cursors(peer: DuplexPeer, method: string): unknown[] {
  return peer.received(method).map((message) => (message.params as JsonObject).cursor)
}

async function withPages<T>(
  pages: [unknown, [unknown[], unknown]][],
  run: (client: Client) => Promise<T>,
  options: ConnectOptions = {},
): Promise<{ result: T; asked: unknown[] }> {
  const named = pages.map(([cursor, [numbers, next]]): [unknown, [unknown[], unknown]] => {
    return [cursor, [numbers.map((name) => ({ name })), next]]
  })
  const peer = pagedPeer('prompts/list', 'prompts', new Map(named))
  const client = await connectTo(peer, options)
  const result = await run(client)
  await client.close()
  return { result, asked: cursors(peer, 'prompts/list') }
}

/** A server whose pages never end. */
function endlessPeer(page: (count: number) => JsonObject): {
  peer: DuplexPeer
  count: () => number
} {
  let count = 0
  const peer = duplexPeer((message) => {
    if (message.method === 'server/discover') return reply(message, discovered())
    return reply(message, { ...page(count), nextCursor: String(count++) })
  })
  return { peer, count: () => count }
}

const all = async (client: Client): Promise<unknown[]> => {
  return (await client.listAllPrompts()).map(({ name }) => name)
}

describe('lists', () => {
  test.each([
    ['tools/list', 'tools', 'tools', 'listAllTools'],
    ['resources/list', 'resources', 'resources', 'listAllResources'],
    [
      'resources/templates/list',
      'resourceTemplates',
      'resourceTemplates',
      'listAllResourceTemplates',
    ],
    ['prompts/list', 'prompts', 'prompts', 'listAllPrompts'],
  ] as const)(
    'are fetched page by page, or all at once: %s [L-PAGE-007] [M-PAGE-007] [M-PROMPT-017]',
    async (method, member, iterate, list) => {
      const peer = pagedPeer(
        method,
        member,
        new Map<unknown, [unknown[], unknown]>([
          [undefined, [[{ name: 'a' }, { name: 'b' }], 'p2']],
          ['p2', [[{ name: 'c' }], undefined]],
        ]),
      )
      const client = await connectTo(peer)
      const names: string[] = []
      for await (const { name } of client[iterate]()) {
        if (name === 'b') expect(cursors(peer, method)).toEqual([undefined])
        names.push(name)
      }
      expect(names).toEqual(['a', 'b', 'c'])
      expect((await client[list]()).map(({ name }) => name)).toEqual(names)
      expect(cursors(peer, method)).toEqual([undefined, 'p2', undefined, 'p2'])
      await client.close()
    },
  )

  test('stop being fetched when the iteration stops', async () => {
    const { asked } = await withPages([[undefined, [[1], 'p2']]], async (client) => {
      for await (const _ of client.prompts()) break
    })
    expect(asked).toEqual([undefined])
  })

  test('have pages of any size, and cursors of any kind, sent back as they are [L-PAGE-001] [L-PAGE-002] [M-PAGE-002] [M-PAGE-006]', async () => {
    const odd = `=/+ é😀"\\${'x'.repeat(4096)}`
    const { result, asked } = await withPages(
      [
        [undefined, [[1, 2, 3], odd]],
        [odd, [[], '0']],
        ['0', [[4, 5, 6, 7], undefined]],
      ],
      all,
    )
    expect(result).toEqual([1, 2, 3, 4, 5, 6, 7])
    expect(asked).toEqual([undefined, odd, '0'])
  })

  test('continue at an empty cursor, and end without one or with null [L-PAGE-003] [M-PAGE-003] [M-PAGE-004] [M-PAGE-005]', async () => {
    const { result, asked } = await withPages(
      [
        [undefined, [[1], '']],
        ['', [[2], 'p3']],
        ['p3', [[3], null]],
      ],
      all,
    )
    expect(result).toEqual([1, 2, 3])
    expect(asked).toEqual([undefined, '', 'p3'])
  })

  test('of servers that end with an empty cursor, and restart from it, are returned once [L-PAGE-008]', async () => {
    const { result, asked } = await withPages(
      [
        [undefined, [[1, 2], '']],
        ['', [[1, 2], '']],
      ],
      all,
    )
    expect(result).toEqual([1, 2])
    expect(asked).toEqual([undefined, ''])
  })

  test('that go in circles are followed once around and reported [L-PAGE-008] [M-PAGE-011]', async () => {
    const problems: Error[] = []
    const { result, asked } = await withPages(
      [
        [undefined, [[1], 'a']],
        ['a', [[2], 'b']],
        ['b', [[3], 'a']],
      ],
      all,
      { onError: (e) => problems.push(e) },
    )
    expect(result).toEqual([1, 2, 3])
    expect(asked).toEqual([undefined, 'a', 'b'])
    expect(problems).toHaveLength(1)
  })

  test('that never end are an error [M-PAGE-011]', async () => {
    const { peer, count } = endlessPeer(() => ({ prompts: [] }))
    const client = await connectTo(peer, { maxPages: 20 })
    await expect(client.listAllPrompts()).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' })
    expect(count()).toBe(20)
    await client.close()
  })

  test.each(['x', [null], [[]], ['a']])('that hold no items are an error: %j', async (tools) => {
    const peer = duplexPeer((message) =>
      reply(message, message.method === 'server/discover' ? discovered() : { tools }),
    )
    const client = await connectTo(peer)
    await expect(client.listAllTools()).rejects.toMatchObject({ code: 'INVALID_MESSAGE' })
    await expect(client.listAllPrompts()).rejects.toMatchObject({ code: 'INVALID_MESSAGE' })
    await client.close()
  })

  test.each<[string, [unknown, [unknown[], unknown]][], number[], string, unknown[]]>([
    [
      'one cursor again and again',
      [
        [undefined, [[1, 2], 'a']],
        ['a', [[1, 2], 'a']],
      ],
      [1, 2],
      'a',
      [undefined, 'a'],
    ],
    [
      'two cursors in turn',
      [
        [undefined, [[1], 'a']],
        ['a', [[2], 'b']],
        ['b', [[1, 3], 'a']],
      ],
      [1, 2, 3],
      'a',
      [undefined, 'a', 'b'],
    ],
    [
      'one page under a new cursor each time',
      [
        [undefined, [[1], 'a']],
        ['a', [[1], 'b']],
        ['b', [[1], 'c']],
      ],
      [1],
      'a',
      [undefined, 'a'],
    ],
  ])(
    'of a server that sends %s are followed until they repeat, and each entry is returned once [P016]',
    async (_, pages, names, cursor, expected) => {
      const problems: Error[] = []
      const { result, asked } = await withPages(pages, all, { onError: (e) => problems.push(e) })
      expect(result).toEqual(names)
      expect(asked).toEqual(expected)
      expect(problems.map(({ message }) => message)).toEqual([
        `"prompts/list" returned the cursor "${cursor}" again`,
      ])
    },
  )

  test('return an entry once if two pages contain it [P016]', async () => {
    const { result } = await withPages(
      [
        [undefined, [[1, 2], 'a']],
        ['a', [[2, 3], undefined]],
      ],
      all,
    )
    expect(result).toEqual([1, 2, 3])
  })

  test('of more than 200 pages are rejected by default [P016]', async () => {
    const { peer, count } = endlessPeer((page) => ({ prompts: [{ name: `p${page}` }] }))
    await using client = await connectTo(peer)
    await expect(client.listAllPrompts()).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
      message: '"prompts/list" has more than 200 pages ("maxPages")',
    })
    expect(count()).toBe(200)
  })

  test.each([
    [undefined, 1024 * 1024, 16],
    [10_000, 3_000, 3],
  ])(
    'that exceed maxListLength (%s) are rejected, and no further page is fetched [S013]',
    async (maxListLength, pageLength, pages) => {
      const description = 'x'.repeat(pageLength)
      const { peer, count } = endlessPeer((page) => ({
        tools: [{ name: `t${page}`, description }],
      }))
      await using client = await connectTo(peer, maxListLength ? { maxListLength } : {})
      await expect(client.listAllTools()).rejects.toMatchObject({
        code: 'LIMIT_EXCEEDED',
        message: expect.stringContaining('"maxListLength"') as string,
      })
      expect(count()).toBe(pages + (maxListLength ? 1 : 0))
    },
  )

  test('are cached up to a total length, not only up to a number [S013]', async () => {
    const text = 'x'.repeat(6 * 1024 * 1024)
    const peer = duplexPeer((message) =>
      reply(
        message,
        message.method === 'server/discover'
          ? discovered()
          : {
              contents: [{ uri: (message.params as JsonObject).uri, text }],
              ttlMs: 3_600_000,
              cacheScope: 'private',
            },
      ),
    )
    await using client = await connectTo(peer)
    for (const uri of ['a:1', 'a:2', 'a:3', 'a:3', 'a:1']) await client.readResource(uri)
    const asked = peer
      .received('resources/read')
      .map((message) => (message.params as JsonObject).uri)
    expect(asked).toEqual(['a:1', 'a:2', 'a:3', 'a:1'])
  })
})
