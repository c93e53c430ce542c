import { describe, expect, test, vi } from 'vitest'
import { ProtocolError } from '../../src/presets/client.ts'
import type { ProgressParams, JsonObject } from '../../src/protocol/types.ts'
import { connectTo, discovered, duplexPeer, initialized, refuse, reply, until } from './peers.ts'

const content = [{ type: 'text', text: 'hi' }]

/** A server over a transport, of either era. */
function peerOf(era: string, answer: (message: JsonObject & { id?: number }) => unknown) {
  return duplexPeer((message) => {
    if (message.method === 'server/discover') {
      return era === 'modern' ? reply(message, discovered()) : refuse(message, -32601)
    }
    if (message.method === 'initialize') return reply(message, initialized())
    return message.id === undefined || !message.method ? undefined : answer(message)
  })
}

function progress(token: unknown, value: number): JsonObject {
  const params = { progressToken: token, progress: value }
  return { jsonrpc: '2.0', method: 'notifications/progress', params }
}

function tokenOf(message: JsonObject): unknown {
  return ((message.params as JsonObject)._meta as JsonObject | undefined)?.progressToken
}

describe.each(['modern', 'legacy'])('requests of a %s session', (era) => {
  test('have ids that are integers and never repeat [M-BASE-003] [M-BASE-004] [M-BASE-006] [L-RPC-003] [L-RPC-005]', async () => {
    const held: JsonObject[] = []
    const peer = peerOf(era, (message) => void held.push(message))
    const client = await connectTo(peer)
    const calls = Array.from({ length: 500 }, (_, n) => client.callTool('a', { n }))
    await until(() => held.length === 500)
    const ids = held.map((message) => message.id)
    expect(new Set(ids).size).toBe(500)
    expect(ids.every(Number.isSafeInteger)).toBe(true)
    // Answers out of order find their requests
    for (const message of held.toReversed()) {
      const { arguments: args } = message.params as JsonObject
      peer.send(reply(message, { content, structuredContent: args }))
    }
    const results = await Promise.all(calls)
    expect(results.map((one) => one.structuredContent)).toEqual(calls.map((_, n) => ({ n })))
    await client.close()
  })

  test('match responses by their id, including its type [L-RPC-006]', async () => {
    const peer = peerOf(era, (message) => {
      peer.send({ ...reply(message, { content: [] }), id: String(message.id) })
      return reply(message, { content })
    })
    const client = await connectTo(peer)
    expect(await client.callTool('a')).toEqual({ content })
    await client.close()
  })

  test('report errors unchanged [M-BASE-019]', async () => {
    const data = { deep: [1, { a: null }] }
    const peer = peerOf(era, (message) => refuse(message, -32050, data))
    const client = await connectTo(peer)
    const failure = await client.callTool('a').catch((e: unknown) => e)
    expect(failure).toBeInstanceOf(ProtocolError)
    expect(failure).toMatchObject({ code: -32050, message: 'error -32050', data })
    await client.close()
  })

  test('return every member of a result [M-BASE-063] [L-COM-007]', async () => {
    const body = {
      content: [{ type: 'text', text: 'a', foo: 1, _meta: { b: 2 } }, { type: 'x' }],
      ext: 1,
      _meta: { 'x.y/z': 1, 'io.modelcontextprotocol/zzz': [1] },
    }
    const peer = peerOf(era, (message) => reply(message, body))
    const client = await connectTo(peer)
    expect(await client.callTool('a')).toEqual(body)
    await client.close()
  })

  test('that get both result and error, or neither, fail and the session continues [M-BASE-020] [L-RPC-007]', async () => {
    const answers = [
      (message: JsonObject) => ({
        ...reply(message, { content }),
        error: { code: 1, message: 'x' },
      }),
      (message: JsonObject) => ({ jsonrpc: '2.0', id: message.id }),
      (message: JsonObject) => ({ jsonrpc: '2.0', id: message.id, result: [] }),
      (message: JsonObject) => ({
        jsonrpc: '2.0',
        id: message.id,
        error: { code: 1.5, message: 'x' },
      }),
      (message: JsonObject) => reply(message, { content }),
    ]
    const peer = peerOf(era, (message) => answers.shift()?.(message))
    const client = await connectTo(peer)
    for (const _ of [1, 2, 3, 4]) {
      await expect(client.callTool('a')).rejects.toMatchObject({ code: 'INVALID_MESSAGE' })
    }
    expect(await client.callTool('a')).toEqual({ content })
    await client.close()
  })

  test('are not affected by invalid messages [M-BASE-017] [M-BASE-023] [L-RPC-016]', async () => {
    const problems: Error[] = []
    const peer = peerOf(era, (message) => {
      peer.send({ jsonrpc: '2.0', id: null, error: { code: -32700, message: 'huh' } })
      peer.send({ jsonrpc: '2.0', method: 'notifications/x' })
      peer.send({ jsonrpc: '2.0', id: 'unknown', result: {} })
      peer.send({ jsonrpc: '1.0', method: 'x' })
      peer.send(42)
      peer.send(null)
      return reply(message, { content })
    })
    const client = await connectTo(peer, { onError: (e) => problems.push(e) })
    expect(await client.callTool('a')).toEqual({ content })
    expect(problems).toHaveLength(5)
    await client.close()
  })

  test('time out after silence and say so on the wire [L-LIFE-023] [L-LIFE-024] [L-LIFE-025] [M-CANC-002] [M-CANC-013] [M-STDIO-016]', async () => {
    const held: JsonObject[] = []
    const peer = peerOf(era, (message) => void held.push(message))
    const client = await connectTo(peer, { timeoutMs: 10_000 })
    await expect(client.callTool('a', {}, { timeoutMs: 20 })).rejects.toMatchObject({
      code: 'TIMEOUT',
    })
    await until(() => peer.received('notifications/cancelled').length > 0)
    expect(peer.received('notifications/cancelled')).toMatchObject([
      {
        params: { requestId: held[0]?.id, reason: expect.stringContaining('tools/call') as string },
      },
    ])
    await client.close()
  })

  test('live on with progress, but not beyond the maximum [L-LIFE-026] [L-LIFE-027] [M-PROG-014] [M-CANC-015]', async () => {
    vi.useFakeTimers()
    try {
      let token: unknown
      const peer = peerOf(era, (message) => {
        token = tokenOf(message)
      })
      const client = await connectTo(peer)
      const seen: number[] = []
      const call = client.callTool(
        'a',
        {},
        {
          timeoutMs: 100,
          maxTimeoutMs: 500,
          onProgress: ({ progress: value }) => seen.push(value),
        },
      )
      const failure = call.catch((e: unknown) => e)
      let settled = false
      void failure.then(() => (settled = true))
      for (let step = 1; step <= 6; step++) {
        await vi.advanceTimersByTimeAsync(80)
        expect(settled).toBe(false)
        peer.send(progress(token, step))
      }
      await vi.advanceTimersByTimeAsync(80)
      expect(await failure).toMatchObject({ code: 'TIMEOUT' })
      expect(seen).toEqual([1, 2, 3, 4, 5, 6])
      await client.close()
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })

  test('can be aborted before, while and after they run [M-CANC-001] [M-CANC-004] [M-CANC-009] [L-CANC-001] [L-CANC-004] [L-CANC-007]', async () => {
    const problems: Error[] = []
    const held: JsonObject[] = []
    const peer = peerOf(era, (message) => {
      held.push(message)
      return held.length === 1 ? undefined : reply(message, { content })
    })
    const client = await connectTo(peer, { onError: (e) => problems.push(e) })
    const controller = new AbortController()
    const { signal } = controller

    const call = client.callTool('a', {}, { signal })
    await until(() => held.length === 1)
    controller.abort(new Error('enough'))
    const failure = await call.catch((e: unknown) => e)
    expect(failure).toMatchObject({ code: 'ABORTED', cause: new Error('enough') })
    peer.send(reply(held[0] ?? {}, { content }))
    peer.send(reply(held[0] ?? {}, { content }))

    await expect(client.callTool('a', {}, { signal })).rejects.toMatchObject({ code: 'ABORTED' })
    expect(held).toHaveLength(1)

    const late = new AbortController()
    await client.callTool('a', {}, { signal: late.signal })
    late.abort()
    await client.callTool('a')
    expect(peer.received('notifications/cancelled')).toHaveLength(1)
    expect(problems).toEqual([])
    await client.close()
  })

  test('survive cancels that cross their answers [M-CANC-010] [L-CANC-008]', async () => {
    const peer = peerOf(era, (message) => reply(message, { content }))
    const client = await connectTo(peer)
    const outcomes = new Set<string>()
    for (let round = 0; round < 200; round++) {
      const controller = new AbortController()
      const call = client.callTool('a', {}, { signal: controller.signal })
      for (let turn = 0; turn < round % 12; turn++) await Promise.resolve()
      controller.abort()
      outcomes.add(
        await call.then(
          () => 'result',
          (e: { code: string }) => e.code,
        ),
      )
    }
    expect([...outcomes].sort()).toEqual(['ABORTED', 'result'])
    expect(await client.callTool('a')).toEqual({ content })
    await client.close()
  })

  test('report progress before they resolve, and never after [M-PROG-010] [M-PROG-011] [L-PROG-009]', async () => {
    const problems: Error[] = []
    const peer = peerOf(era, (message) => {
      const token = tokenOf(message)
      for (const value of [1, 5, 3]) peer.send(progress(token, value))
      peer.send(progress(String(token), 9))
      peer.send(reply(message, { content }))
      peer.send(progress(token, 10))
      peer.send(progress('never', 10))
      return undefined
    })
    const client = await connectTo(peer, { onError: (e) => problems.push(e) })
    const seen: ProgressParams[] = []
    await client.callTool('a', {}, { onProgress: (one) => seen.push(one) })
    expect(seen.map((one) => one.progress)).toEqual([1, 5, 3])
    await client.request('x/y', {})
    expect(seen).toHaveLength(3)
    expect(problems).toEqual([])
    await client.close()
  })

  test('have progress tokens that differ while they run [M-PROG-001] [M-PROG-002] [L-PROG-001] [L-PROG-002]', async () => {
    const tokens: unknown[] = []
    const peer = peerOf(era, (message) => void tokens.push(tokenOf(message)))
    const client = await connectTo(peer)
    const onProgress = (): void => {}
    const calls = Array.from({ length: 100 }, () => client.callTool('a', {}, { onProgress }))
    await until(() => tokens.length === 100)
    expect(new Set(tokens).size).toBe(100)
    expect(tokens.every((token) => typeof token === 'number')).toBe(true)
    const settled = Promise.allSettled(calls)
    await client.close()
    await settled
  })

  test('are not broken by callbacks that throw', async () => {
    const problems: Error[] = []
    const peer = peerOf(era, (message) => {
      peer.send(progress(tokenOf(message), 1))
      return reply(message, { content })
    })
    const client = await connectTo(peer, {
      onError(e) {
        problems.push(e)
        throw new Error('worse')
      },
    })
    const onProgress = (): never => {
      throw new Error('bad')
    }
    expect(await client.callTool('a', {}, { onProgress })).toEqual({ content })
    expect(problems.map((e) => e.message)).toEqual(['bad'])
    await client.close()
  })

  test("log their callbacks' errors on the console without an onError hook", async () => {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
    const peer = peerOf(era, (message) => {
      peer.send(progress(tokenOf(message), 1))
      return reply(message, { content })
    })
    const client = await connectTo(peer)
    const bad = new Error('bad')
    const onProgress = (): never => {
      throw bad
    }
    expect(await client.callTool('a', {}, { onProgress })).toEqual({ content })
    await client.close()
    expect(logged.mock.calls).toEqual([[bad]])
    logged.mockRestore()
  })

  test("merge their own _meta, which cannot override the protocol's [M-META-030]", async () => {
    const peer = peerOf(era, (message) => reply(message, { content }))
    const client = await connectTo(peer)
    const own = { 'com.example/a': 1, 'io.modelcontextprotocol/protocolVersion': 'evil' }
    await client.request('tools/call', { name: 'a', _meta: { b: 2 } }, { meta: own })
    const { _meta } = peer.messages.at(-1)!.params as { _meta: JsonObject }
    expect(_meta).toMatchObject({ 'com.example/a': 1, b: 2 })
    if (era === 'modern')
      expect(_meta).toMatchObject({ 'io.modelcontextprotocol/protocolVersion': '2026-07-28' })
    await client.close()
  })
})

describe('every request of 2026-07-28', () => {
  test('carries version, capabilities and client [M-META-001] [M-META-002] [M-META-003] [M-META-004] [M-VER-001]', async () => {
    const peer = peerOf('modern', (message) =>
      reply(message, { content, completion: { values: [] } }),
    )
    const client = await connectTo(peer, {
      info: { name: 'me', version: '1' },
      onSample: () => ({ role: 'user', content: { type: 'text', text: '' }, model: 'm' }),
      roots: [],
    })
    await client.callTool('a')
    await client.complete({ type: 'ref/prompt', name: 'a' }, { name: 'b', value: 'c' })
    await client.request('com.example/x', {})
    expect(peer.messages).toHaveLength(4)
    for (const { params } of peer.messages) {
      expect(params?._meta).toEqual({
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': { sampling: {}, roots: {} },
        'io.modelcontextprotocol/clientInfo': { name: 'me', version: '1' },
      })
    }
    await client.close()
  })

  test('can leave the client unnamed [M-META-003]', async () => {
    const peer = peerOf('modern', (message) => reply(message, { content }))
    const client = await connectTo(peer, { sendInfo: false })
    await client.callTool('a')
    expect(JSON.stringify(peer.messages)).not.toContain('clientInfo')
    await client.close()
  })

  test('carries the log level only when one was set [M-LOG-015]', async () => {
    const peer = peerOf('modern', (message) => reply(message, { content }))
    const client = await connectTo(peer)
    const level = (): unknown =>
      (peer.messages.at(-1)!.params!._meta as JsonObject)['io.modelcontextprotocol/logLevel']
    await client.callTool('a')
    expect(level()).toBeUndefined()
    await client.callTool('a', {}, { logLevel: 'debug' })
    expect(level()).toBe('debug')
    await client.setLogLevel('error')
    await client.callTool('a')
    expect(level()).toBe('error')
    expect(peer.received('logging/setLevel')).toEqual([])
    await client.close()
  })

  test('takes an absent resultType for complete and refuses an unknown one [M-BASE-011] [M-BASE-012] [M-BASE-013]', async () => {
    const types: unknown[] = [undefined, 'complete', 'weird', 'task']
    const peer = peerOf('modern', (message) =>
      reply(message, { content, resultType: types.shift() }),
    )
    const client = await connectTo(peer)
    await client.callTool('a')
    await client.callTool('a')
    await expect(client.callTool('a')).rejects.toMatchObject({ code: 'INVALID_MESSAGE' })
    await expect(client.callTool('a')).rejects.toMatchObject({ code: 'INVALID_MESSAGE' })
    await client.close()
  })

  test('is sent as server/discover if it is a ping, because the revision has no ping', async () => {
    const peer = peerOf('modern', () => undefined)
    const client = await connectTo(peer)
    await client.ping()
    expect(peer.received('server/discover')).toHaveLength(2)
    await client.close()
  })

  test('comes from the client: a request of the server is reported and not answered [M-BASE-040] [M-BASE-041] [M-STDIO-010] [M-COMPAT-034]', async () => {
    const problems: Error[] = []
    const peer = peerOf('modern', (message) => {
      peer.send({ jsonrpc: '2.0', id: 1, method: 'sampling/createMessage', params: {} })
      return reply(message, { content })
    })
    const client = await connectTo(peer, { onError: (e) => problems.push(e) })
    await client.callTool('a')
    await client.callTool('a')
    expect(problems).toHaveLength(2)
    expect(peer.messages.every((message) => message.method !== undefined)).toBe(true)
    await client.close()
  })
})

test('a legacy ping and a log level are requests', async () => {
  const peer = peerOf('legacy', (message) => reply(message, {}))
  const client = await connectTo(peer)
  await client.ping()
  await client.setLogLevel('warning')
  expect(peer.messages.at(-2)).toMatchObject({ method: 'ping' })
  expect(peer.messages.at(-1)).toMatchObject({
    method: 'logging/setLevel',
    params: { level: 'warning' },
  })
  await client.close()
})
