/** Errors for invalid use of a client. */
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { connect, SdkError, type ConnectOptions } from '../../src/presets/client.ts'
import type { JsonObject } from '../../src/protocol/types.ts'
import { createServer, createSseHandler } from '../../src/presets/server.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import { legacyPeer, modernPeer, result, connectTo } from './peers.ts'

const info = { name: 's', version: '1' }
const content = [{ type: 'text', text: 'a' }]

test.each(['nope', '', '/mcp', 'localhost:8000/mcp', 'ftp://a.example/mcp', 'https://'])(
  'connecting to "%s" is rejected with the value given',
  async (target) => {
    const error: unknown = await connect(target).catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(SdkError)
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
  const refused = { name: 'SdkError', code: 'INVALID_USE', cause: expect.any(Error) }

  test.each(['2024-11-05', '2025-11-25', '2026-07-28'] as const)(
    'are refused in memory, and the connection continues, in %s',
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
  ])('are refused over HTTP, and the connection continues, in %s', async (_revision, make) => {
    const peer = make((request) => result(request, { content, resultType: 'complete' }))
    const client = await connectTo(peer)
    await expect(client.callTool('a', args)).rejects.toMatchObject(refused)
    await expect(client.notify('x', args)).rejects.toMatchObject(refused)
    expect(await client.callTool('a')).toMatchObject({ content })
    expect(peer.received('tools/call')).toHaveLength(1)
    await client.close()
  })

  test('are refused over HTTP+SSE, and the connection continues', async () => {
    const server = createServer(info)
    server.tool('a', {}, () => 'a')
    const handle = createSseHandler(server)
    const client = await connect('http://localhost/sse', {
      fetch: (url, init) => handle(new Request(url, init)),
      versionCache: new Map([['http://localhost/sse', 'http-sse']]),
    })
    await expect(client.callTool('a', args)).rejects.toMatchObject(refused)
    expect(await client.callTool('a')).toMatchObject({ content })
    await client.close()
  })
})

test.each(['2025-11-25', '2026-07-28'] as const)(
  'a closed client rejects requests and subscriptions, in %s',
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

describe.each(['2025-06-18', '2025-11-25', '2026-07-28'] as const)('in %s', (revision) => {
  /** A server that asks, and what its author and its client's learn. */
  async function asked(onElicit: ConnectOptions['onElicit']) {
    const problems: unknown[] = []
    const server = createServer(info, { onError: (error) => problems.push(error) })
    server.tool('ask', {}, async (_args, ctx) => {
      const schema = z.object({ name: z.string().max(5) })
      return (await ctx.elicit({ message: 'Who?', schema })).action
    })
    const client = await connectInMemory(server, {
      revision,
      maxRounds: 2,
      onError: (error) => problems.push(error),
      ...(onElicit && { onElicit }),
    })
    const outcome: unknown = await client.callTool('ask').catch((error: unknown) => error)
    await client.close()
    return { outcome, problems }
  }

  test.each([undefined, null, {}, { action: 'maybe' }, { content: {} }])(
    'a handler that returns %j causes an error, and nothing is sent',
    async (answer) => {
      const { outcome, problems } = await asked(() => answer as never)
      const outcomes = [outcome, ...problems]
      expect(outcomes).toContainEqual(expect.objectContaining({ code: 'INVALID_USE' }))
    },
  )

  test('a response that the server rejects fails the call with the rejected value', async () => {
    const { outcome } = await asked(() => ({ action: 'accept', content: { name: 'too long' } }))
    const what = outcome instanceof Error ? outcome.message : JSON.stringify(outcome)
    expect(what).toMatch(
      revision === '2026-07-28'
        ? /"maxRounds" \(2\): the server asks for \["elicitation\/create#1"\]/
        : /answer to .*elicitation\/create.* is invalid: name: /,
    )
  })
})

test('a call that is returned without await under await using says what to do [P009]', async () => {
  const server = createServer(info)
  server.tool('a', {}, () => 'a')
  const call = async (list: boolean): Promise<unknown> => {
    await using client = await connectInMemory(server)
    return list ? client.listAllTools() : client.callTool('a')
  }
  for (const list of [true, false]) {
    await expect(call(list)).rejects.toMatchObject({
      code: 'CLOSED',
      message: 'The connection is closed: the client was closed first: use "return await"',
    })
  }
})

test.each([
  [{ timeoutMs: 20 }, '"timeoutMs" is 20'],
  [{ timeoutMs: 60_000, maxTimeoutMs: 20 }, '"maxTimeoutMs" is 20'],
])('a timeout names the option that set it: %j [P019]', async (options, named) => {
  const peer = modernPeer(() => new Promise(() => {}))
  await using client = await connectTo(peer)
  await expect(client.callTool('a', {}, options)).rejects.toMatchObject({
    code: 'TIMEOUT',
    message: `"tools/call" timed out: ${named}`,
  })
})
