import { describe, expect, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import type { JsonObject } from '../../src/protocol/types.ts'
import { connectTo, duplexPeer, everything, initialized, refuse, reply, until } from './peers.ts'

const content = [{ type: 'text', text: 'hi' }]
const legacy = { revision: ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] } as const

/** A server with sessions over a transport. */
function sessionPeer(
  answer: (message: JsonObject) => unknown = (message) => reply(message, { content }),
  handshake: JsonObject = initialized(),
) {
  return duplexPeer((message) => {
    if (message.method === 'initialize') return reply(message, handshake)
    return message.id === undefined || !message.method ? undefined : answer(message)
  })
}

describe('initialize', () => {
  test('comes first and sends version, capabilities and client [L-LIFE-001] [L-LIFE-002] [L-LIFE-009]', async () => {
    const peer = sessionPeer()
    const client = await connectTo(peer, { ...legacy, info: { name: 'me', version: '2' } })
    expect(peer.messages[0]).toEqual({
      jsonrpc: '2.0',
      id: expect.any(Number) as number,
      method: 'initialize',
      params: {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'me', version: '2' },
      },
    })
    await client.close()
  })

  test('names Edgewise when the application gives no clientInfo', async () => {
    const peer = sessionPeer()
    await (await connectTo(peer, legacy)).close()
    const { name, version } = packageJson
    expect(peer.messages[0]?.params?.clientInfo).toEqual({ name, version })
  })

  test('is followed by one initialized notification, without an id [L-LIFE-004] [L-RPC-013]', async () => {
    const peer = sessionPeer()
    const client = await connectTo(peer, legacy)
    await client.callTool('a')
    expect(peer.messages.map((message) => message.method)).toEqual([
      'initialize',
      'notifications/initialized',
      'tools/call',
    ])
    expect(peer.messages[1]).toEqual({ jsonrpc: '2.0', method: 'notifications/initialized' })
    await client.close()
  })

  test.each(['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'])(
    'uses the version of the response, %s',
    async (version) => {
      const peer = sessionPeer(undefined, initialized(version))
      const client = await connectTo(peer, legacy)
      expect(client.revision).toBe(version)
      expect(client.instructions).toBe('Be kind')
      expect(client.discovery).toBeUndefined()
      await client.close()
    },
  )

  test.each(['1.0.0', '2099-01-01', '2026-07-28'])(
    'disconnects when the answered version is %s, and names both [L-LIFE-013]',
    async (version) => {
      const peer = sessionPeer(undefined, initialized(version))
      const failure = await connectTo(peer, legacy).catch((e: unknown) => e)
      expect(failure).toMatchObject({ code: 'VERSION_MISMATCH' })
      expect((failure as Error).message).toContain(version)
      expect((failure as Error).message).toContain('2025-11-25')
      expect(peer.received('notifications/initialized')).toEqual([])
      await expect(peer.transport.send([])).rejects.toMatchObject({ code: 'CLOSED' })
    },
  )

  test('that is refused with a list of versions is tried again with one of them [L-LIFE-029]', async () => {
    const peer = duplexPeer((message) => {
      if (message.method !== 'initialize') return undefined
      const { protocolVersion } = message.params as JsonObject
      return protocolVersion === '2024-11-05'
        ? reply(message, initialized('2024-11-05'))
        : refuse(message, -32602, { supported: ['2024-11-05'], requested: protocolVersion })
    })
    const client = await connectTo(peer, legacy)
    expect(client.revision).toBe('2024-11-05')
    await client.close()
  })

  test('sends only the client fields that the proposed revision defines [L-LIFE-021]', async () => {
    const info = {
      name: 'me',
      title: 'Me',
      version: '2',
      description: 'd',
      websiteUrl: 'https://me.example',
    }
    const seen = async (revision: '2025-11-25' | '2025-06-18' | '2025-03-26') => {
      const peer = sessionPeer(undefined, initialized(revision))
      await (await connectTo(peer, { revision, info })).close()
      return peer.messages[0]?.params?.clientInfo
    }
    expect(await seen('2025-11-25')).toEqual(info)
    expect(await seen('2025-06-18')).toEqual({ name: 'me', title: 'Me', version: '2' })
    expect(await seen('2025-03-26')).toEqual({ name: 'me', version: '2' })
  })

  test('is never cancelled, neither by a timeout nor by an abort [L-CANC-002]', async () => {
    const peer = duplexPeer(() => undefined)
    await expect(connectTo(peer, { ...legacy, timeoutMs: 20 })).rejects.toMatchObject({
      code: 'TIMEOUT',
    })
    const other = duplexPeer(() => undefined)
    const signal = AbortSignal.timeout(20)
    await expect(connectTo(other, { ...legacy, signal })).rejects.toMatchObject({ code: 'ABORTED' })
    for (const { messages } of [peer, other]) {
      expect(messages.map((message) => message.method)).toEqual(['initialize'])
    }
  })

  test('accepts unknown capabilities and passes them on [L-RPC-018]', async () => {
    const capabilities = { ...everything, 'x.y/z': { a: 1 }, experimental: { foo: { b: 2 } } }
    const peer = sessionPeer(undefined, initialized('2025-11-25', capabilities))
    const client = await connectTo(peer, legacy)
    expect(client.serverCapabilities).toEqual(capabilities)
    await client.close()
  })

  test('with an invalid result is an error', async () => {
    const peer = sessionPeer(undefined, { capabilities: {} })
    await expect(connectTo(peer, legacy)).rejects.toMatchObject({ code: 'VERSION_MISMATCH' })
  })
})

describe('pings of the server', () => {
  test('are answered before, during and after the handshake [L-LIFE-007] [L-PING-001]', async () => {
    const peer = duplexPeer((message) => {
      if (message.method === 'initialize') {
        peer.send({ jsonrpc: '2.0', id: 'early', method: 'ping' })
        return reply(message, initialized())
      }
      return undefined
    })
    const client = await connectTo(peer, legacy)
    peer.send({ jsonrpc: '2.0', id: 0, method: 'ping' })
    await until(() => peer.messages.some((message) => message.id === 0))
    expect(peer.messages).toContainEqual({ jsonrpc: '2.0', id: 'early', result: {} })
    expect(peer.messages).toContainEqual({ jsonrpc: '2.0', id: 0, result: {} })
    await client.close()
  })
})

describe('a capability that the server did not declare', () => {
  test('is refused locally, and nothing is sent [L-LIFE-016] [L-RES-018] [L-PROM-013]', async () => {
    const peer = sessionPeer(undefined, initialized('2025-11-25', { resources: {} }))
    const client = await connectTo(peer, legacy)
    const sent = peer.messages.length
    const calls = [
      client.listAllTools(),
      client.callTool('a'),
      client.getPrompt('a'),
      client.complete({ type: 'ref/prompt', name: 'a' }, { name: 'b', value: '' }),
      client.setLogLevel('debug'),
    ]
    for (const call of calls)
      await expect(call).rejects.toMatchObject({ code: 'CAPABILITY_MISSING' })
    await expect(client.subscribe('file:///a')).rejects.toMatchObject({ code: 'UNSUPPORTED' })
    expect(peer.messages).toHaveLength(sent)
    await client.close()
  })

  test('completions are tried on 2024-11-05, which cannot offer them [L-COMP-002]', async () => {
    const completion = { values: ['x'] }
    const peer = sessionPeer(
      (message) => reply(message, { completion }),
      initialized('2024-11-05', { prompts: {} }),
    )
    const client = await connectTo(peer, legacy)
    const ref = { type: 'ref/prompt', name: 'a' } as const
    expect(await client.complete(ref, { name: 'b', value: '' }, { c: 'd' })).toEqual(completion)
    expect(peer.messages.at(-1)?.params).toEqual({ ref, argument: { name: 'b', value: '' } })
    await client.close()
  })

  test('methods of another era are refused locally', async () => {
    const peer = sessionPeer()
    const client = await connectTo(peer, legacy)
    await expect(client.request('server/discover')).rejects.toMatchObject({ code: 'UNSUPPORTED' })
    await expect(client.request('initialize')).rejects.toMatchObject({
      code: 'UNSUPPORTED',
      message: '"initialize" cannot be requested: use "connect"',
    })
    await client.close()
  })
})

describe('batches', () => {
  test('are accepted in 2025-03-26 [L-RPC-019]', async () => {
    const updated: string[] = []
    const peer = sessionPeer(
      (message) => [
        { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'a:b' } },
        { jsonrpc: '2.0', id: 'p', method: 'ping' },
        reply(message, { content }),
      ],
      initialized('2025-03-26'),
    )
    const client = await connectTo(peer, {
      ...legacy,
      onResourceUpdated: (uri) => updated.push(uri),
    })
    expect(await client.callTool('a')).toEqual({ content })
    expect(updated).toEqual(['a:b'])
    expect(peer.messages).toContainEqual({ jsonrpc: '2.0', id: 'p', result: {} })
    await client.close()
  })

  test.each(['2025-06-18', '2025-11-25', '2024-11-05'])(
    'are rejected in %s [L-RPC-022]',
    async (version) => {
      const problems: Error[] = []
      const peer = sessionPeer((message) => [reply(message, { content })], initialized(version))
      const client = await connectTo(peer, {
        ...legacy,
        onError: (e) => problems.push(e),
      })
      await expect(client.callTool('a', {}, { timeoutMs: 30 })).rejects.toMatchObject({
        code: 'TIMEOUT',
      })
      expect(problems).toHaveLength(1)
      await client.close()
    },
  )
})

describe('closing', () => {
  test('rejects pending and later requests with CLOSED', async () => {
    const peer = sessionPeer(() => undefined)
    const client = await connectTo(peer, legacy)
    const call = client.callTool('a')
    const settled = expect(call).rejects.toMatchObject({ code: 'CLOSED' })
    await client.close()
    await settled
    await expect(client.callTool('a')).rejects.toMatchObject({ code: 'CLOSED' })
    await expect(client.notify('notifications/x')).rejects.toMatchObject({ code: 'CLOSED' })
    await client.close()
  })

  test('happens at the end of an await using block', async () => {
    const peer = sessionPeer()
    {
      await using client = await connectTo(peer, legacy)
      await client.callTool('a')
    }
    await expect(peer.transport.send([])).rejects.toMatchObject({ code: 'CLOSED' })
  })

  test('by the server fails calls at once', async () => {
    const peer = sessionPeer(() => peer.close())
    const client = await connectTo(peer, legacy)
    await expect(client.callTool('a')).rejects.toMatchObject({ code: 'CLOSED' })
  })
})
