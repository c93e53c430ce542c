/** What a client is told that it cannot do. */
import { describe, expect, test } from 'vitest'
import { connect, McpError } from '../../src/client/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { createServer, createSseHandler } from '../../src/server/index.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import { legacyPeer, modernPeer, result, connectTo } from './peers.ts'

const info = { name: 's', version: '1' }
const content = [{ type: 'text', text: 'a' }]

test.each(['nope', '', '/mcp', 'localhost:8000/mcp', 'ftp://a.example/mcp', 'https://'])(
  'connecting to "%s" is refused with what was given',
  async (target) => {
    const error: unknown = await connect(target).catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(McpError)
    expect(error).toMatchObject({ code: 'INVALID_USE', message: expect.stringContaining(target) })
  },
)

const itself: JsonObject = {}
itself.itself = itself

describe.each([
  ['a bigint', { big: 1n }],
  ['itself', itself],
  [
    'what cannot be read',
    {
      toJSON(): never {
        throw new TypeError('No')
      },
    },
  ],
] as [string, JsonObject][])('arguments that hold %s', (_what, args) => {
  const refused = { name: 'McpError', code: 'INVALID_USE', cause: expect.any(Error) }

  test.each(['2024-11-05', '2025-11-25', '2026-07-28'] as const)(
    'are refused in memory, and the connection goes on, in %s',
    async (revision) => {
      const server = createServer(info)
      server.tool('a', {}, () => 'a')
      const client = await connectInMemory(server, { revision })
      await expect(client.callTool('a', args)).rejects.toMatchObject(refused)
      await expect(client.notify('x', args)).rejects.toMatchObject(refused)
      expect(await client.callTool('a')).toMatchObject({ content })
      await client.close()
    },
  )

  test.each([
    ['2025-11-25', legacyPeer],
    ['2026-07-28', modernPeer],
  ])('are refused over HTTP, and the connection goes on, in %s', async (_revision, make) => {
    const peer = make((seen) => result(seen, { content, resultType: 'complete' }))
    const client = await connectTo(peer)
    await expect(client.callTool('a', args)).rejects.toMatchObject(refused)
    await expect(client.notify('x', args)).rejects.toMatchObject(refused)
    expect(await client.callTool('a')).toMatchObject({ content })
    expect(peer.sent('tools/call')).toHaveLength(1)
    await client.close()
  })

  test('are refused over HTTP+SSE, and the connection goes on', async () => {
    const server = createServer(info)
    server.tool('a', {}, () => 'a')
    const handle = createSseHandler(server)
    const client = await connect('http://localhost/sse', {
      fetch: (url, init) => handle(new Request(url, init)),
      eras: new Map([['http://localhost/sse', 'http-sse']]),
    })
    await expect(client.callTool('a', args)).rejects.toMatchObject(refused)
    expect(await client.callTool('a')).toMatchObject({ content })
    await client.close()
  })
})

test.each(['2025-11-25', '2026-07-28'] as const)(
  'nothing can be asked or listened to once the client is closed, in %s',
  async (revision) => {
    const server = createServer(info)
    server.tool('a', {}, () => 'a')
    const client = await connectInMemory(server, { revision })
    await client.close()
    const closed = { code: 'CLOSED' }
    await expect(client.callTool('a')).rejects.toMatchObject(closed)
    await expect(client.notify('x')).rejects.toMatchObject(closed)
    await expect(client.listen({ toolsListChanged: true })).rejects.toMatchObject(closed)
    await expect(client.listen({})).rejects.toMatchObject(closed)
    await client.close()
  },
)
