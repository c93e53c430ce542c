/** Public reports of handshakes and capabilities that went wrong, replayed. */
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import type { JsonObject } from '../../src/index.ts'
import { createServer, text } from '../../src/presets/server.ts'
import { sessionHandler } from '../handler.ts'
import { connectTo, discovered, duplexPeer, initialized, reply } from '../client/peers.ts'
import { makeServer } from '../server/fixture.ts'
import { lastMessage, post, postModern } from '../transport/streamable-http/post.ts'
import { rawPeer } from './raw-peer.ts'

const clientInfo = { name: 'c', version: '1' }
const init = (params: JsonObject): JsonObject => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { capabilities: {}, clientInfo, ...params },
})

describe('the version that initialize asks for', () => {
  it.each([
    ['2025-06-18', '2025-06-18'],
    ['2024-11-05', '2024-11-05'],
    ['2099-01-01', '2025-11-25'],
    ['2026-07-28', '2025-11-25'],
    ['1.0.0', '2025-11-25'],
    ['', '2025-11-25'],
    [undefined, -32602],
    [20250618, -32602],
    [null, -32602],
  ])('%j is answered with %j [B049]', async (protocolVersion, answered) => {
    const response = await post(
      sessionHandler(makeServer().server),
      init({ ...(protocolVersion !== undefined && { protocolVersion }) }),
    )
    const { result, error } = await lastMessage(response)
    expect(result?.protocolVersion ?? error.code).toBe(answered)
    await using peer = await rawPeer(makeServer().server)
    await peer.send(init({ ...(protocolVersion !== undefined && { protocolVersion }) }))
    const raw = await peer.until(({ id }) => id === 1)
    const { result: said, error: fault } = raw as {
      result?: { protocolVersion: string }
      error?: { code: number }
    }
    expect(said?.protocolVersion ?? fault?.code).toBe(answered)
  })

  it.each(['2099-01-01', '2026-07-28', '', undefined, 7])(
    'answered with %j, which the client does not support, ends the connection [B049]',
    async (version) => {
      let closed = false
      const peer = duplexPeer((message) =>
        message.method === 'initialize'
          ? reply(message, { ...initialized(), protocolVersion: version })
          : undefined,
      )
      const { transport } = peer
      const close = transport.close.bind(transport)
      transport.close = () => {
        closed = true
        return close()
      }
      const failure = connectTo(peer, { revision: '2025-11-25' })
      await expect(failure).rejects.toMatchObject({
        code: 'VERSION_MISMATCH',
        message: expect.stringContaining('2025-11-25') as string,
        data: { requested: ['2025-11-25'], supported: [version] },
      })
      expect(closed).toBe(true)
      expect(peer.received('notifications/initialized')).toEqual([])
    },
  )
})

describe('before the handshake is complete', () => {
  it('pings and a log level are taken, other requests leave the server able to begin [B051]', async () => {
    await using peer = await rawPeer(makeServer().server)
    const send = (id: number, method: string, params = {}): Promise<void> =>
      peer.send({ jsonrpc: '2.0', id, method, params })
    await send(0, 'tools/list')
    await send(1, 'ping')
    await send(2, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })
    await send(3, 'logging/setLevel', { level: 'debug' })
    await send(4, 'ping')
    await peer.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
    await send(5, 'tools/list')
    await peer.until(({ id }) => id === 5)
    const seen = peer.got.map(({ id, error }) => [id, (error as { code?: number })?.code])
    expect(new Map(seen as [number, number | undefined][])).toEqual(
      new Map([
        [0, -32600],
        [1, undefined],
        [2, undefined],
        [3, undefined],
        [4, undefined],
        [5, undefined],
      ]),
    )
  })

  it('a client answers pings during version negotiation [B051]', async () => {
    const peer = duplexPeer((message) => {
      if (message.method === 'server/discover') {
        peer.send({ jsonrpc: '2.0', id: 'early', method: 'ping' })
        return undefined
      }
      if (message.id === ('early' as unknown)) {
        const { id } = peer.received('server/discover')[0] as { id: number }
        return { jsonrpc: '2.0', id, error: { code: -32601, message: 'Unknown' } }
      }
      return message.method === 'initialize' ? reply(message, initialized()) : undefined
    })
    await using client = await connectTo(peer)
    expect(client.revision).toBe('2025-11-25')
    expect(peer.messages).toContainEqual({ jsonrpc: '2.0', id: 'early', result: {} })
  })

  it('a server of 2026-07-28 may not ping, and is not answered [B051]', async () => {
    const problems: Error[] = []
    const peer = duplexPeer((message) =>
      message.method === 'server/discover' ? reply(message, discovered()) : undefined,
    )
    await using _client = await connectTo(peer, { onError: (problem) => problems.push(problem) })
    peer.send({ jsonrpc: '2.0', id: 1, method: 'ping' })
    await expect.poll(() => problems).toMatchObject([{ code: 'INVALID_MESSAGE' }])
    expect(peer.messages).toHaveLength(1)
  })
})

describe('an undeclared capability', () => {
  const schema = z.object({ yes: z.boolean() })
  const tools = [{ name: 't', inputSchema: { type: 'object' as const } }]
  const messages = [{ role: 'user' as const, content: text('x') }]
  const url = { message: 'Go', url: 'https://x.example/' }

  /** A server whose tools ask, and say what came of it. */
  function asking() {
    const server = createServer({ name: 's', version: '1' })
    const add = (name: string, ask: Parameters<typeof server.tool>[2]): void =>
      void server.tool(name, {}, ask)
    const describeError = (error: unknown): string => String((error as { code?: unknown }).code)
    const run = (ask: Promise<unknown>) => ask.then(() => 'asked', describeError)
    add('form', (_, ctx) => run(ctx.elicit({ message: 'Sure?', schema })))
    add('url', (_, ctx) => run(ctx.elicitUrl(url)))
    add('sample', (_, ctx) => run(ctx.sample({ messages, maxTokens: 1 })))
    add('tools', (_, ctx) => run(ctx.sample({ messages, maxTokens: 1, tools })))
    add('roots', (_, ctx) => run(ctx.roots()))
    return server
  }

  it.each([
    [{}, [] as string[]],
    [{ elicitation: {} }, ['form']],
    [{ elicitation: { url: {} } }, ['url']],
    [{ elicitation: { form: {}, url: {} } }, ['form', 'url']],
    [{ sampling: {} }, ['sample']],
    [{ sampling: { tools: {} } }, ['sample', 'tools']],
    [{ roots: {} }, ['roots']],
  ])('is not asked of a client that declares %j [B053]', async (capabilities, allowed) => {
    await using peer = await rawPeer(asking())
    await peer.initialize(capabilities)
    for (const name of ['form', 'url', 'sample', 'tools', 'roots']) {
      const before = peer.got.length
      await peer.send({ jsonrpc: '2.0', id: name, method: 'tools/call', params: { name } })
      if (allowed.includes(name)) {
        await peer.until((message) => message.method !== undefined && peer.got.length > before)
        continue
      }
      const { result } = await peer.until(({ id }) => id === name)
      expect([name, result]).toEqual([name, { content: [text('CAPABILITY_MISSING')] }])
    }
    const asked = peer.got.filter(({ method }) => method !== undefined)
    expect(asked).toHaveLength(allowed.length)
  })

  it('is named by a server of 2026-07-28 [B053]', async () => {
    const server = createServer({ name: 's', version: '1' })
    server.tool('form', {}, async (_args, ctx) => {
      await ctx.elicit({ message: 'Sure?', schema })
      return 'asked'
    })
    const response = await postModern(sessionHandler(server), 'tools/call', { name: 'form' })
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: { code: -32021, data: { requiredCapabilities: { elicitation: { form: {} } } } } },
    ])
  })

  it('is advertised only where something answers it [B053]', async () => {
    const empty = createServer({ name: 's', version: '1' })
    await using peer = await rawPeer(empty)
    const { result } = await peer.initialize()
    expect((result as JsonObject).capabilities).toEqual({})
    for (const method of [
      'tools/list',
      'resources/list',
      'prompts/list',
      'resources/subscribe',
      'logging/setLevel',
      'completion/complete',
    ]) {
      await peer.send({ jsonrpc: '2.0', id: method, method, params: {} })
      expect(await peer.until(({ id }) => id === method)).toMatchObject({ error: { code: -32601 } })
    }
  })
})
