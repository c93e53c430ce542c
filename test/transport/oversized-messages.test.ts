/** Messages over stdio that are too long: who waits for them learns it at once. */
import { describe, expect, test } from 'vitest'
import { connect, type ConnectOptions } from '../../src/presets/client.ts'
import type { JsonObject } from '../../src/index.ts'
import { createServer, serveTransport, text } from '../../src/presets/server.ts'
import { stdioTransport } from '../../src/transport/index.ts'
import { initialized, until } from '../client/peers.ts'

const long = 'x'.repeat(5000)
const options = { maxMessageBytes: 2000 }

/** A pipe whose far end is text. */
function pipe(answer?: (message: JsonObject) => JsonObject | undefined) {
  const inward = new TransformStream<Uint8Array, Uint8Array>(undefined, undefined, {
    highWaterMark: 10,
  })
  const input = inward.writable.getWriter()
  const seen: JsonObject[] = []
  const send = (message: JsonObject): void =>
    void input.write(new TextEncoder().encode(`${JSON.stringify(message)}\n`))
  let rest = ''
  const sink = new WritableStream<Uint8Array>({
    write(chunk) {
      rest += new TextDecoder().decode(chunk)
      const lines = rest.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const message = JSON.parse(line) as JsonObject
        seen.push(message)
        const back = answer?.(message)
        if (back) send({ jsonrpc: '2.0', id: message.id, ...back })
      }
    },
  })
  return { transport: stdioTransport(inward.readable, sink, options), seen, send, input }
}

describe('a message that is too long for a server', () => {
  const find = (seen: JsonObject[], id: unknown) =>
    seen.find((one) => one.id === id && !('method' in one))

  async function session() {
    const server = createServer({ name: 's', version: '1' }, { onError: () => {} })
    const outcome: unknown[] = []
    server.tool('ask', {}, async (_args, ctx) => {
      await ctx.roots().then(
        (roots) => outcome.push(roots),
        (error: unknown) => outcome.push(error),
      )
      return text('asked')
    })
    const { transport, seen, send, input } = pipe()
    const served = serveTransport(server, transport)
    send({
      jsonrpc: '2.0',
      id: 'i',
      method: 'initialize',
      params: {
        protocolVersion: '2025-11-25',
        capabilities: { roots: {} },
        clientInfo: { name: 'c', version: '1' },
      },
    })
    send({ jsonrpc: '2.0', method: 'notifications/initialized' })
    await until(() => find(seen, 'i') !== undefined)
    const close = async () => {
      await input.close()
      await served
    }
    return { seen, send, outcome, close }
  }

  test.each([
    ['first', { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { long } }],
    ['last', { method: 'tools/call', params: { long }, jsonrpc: '2.0', id: 7 }],
  ])('is refused by its id, which comes %s [L-RPC-011] [M-BASE-016]', async (_, request) => {
    const { seen, send, close } = await session()
    send(request)
    await until(() => find(seen, 7) !== undefined)
    expect(find(seen, 7)).toEqual({
      jsonrpc: '2.0',
      id: 7,
      error: {
        code: -32600,
        message: 'Invalid request: the message is longer than 2000 bytes',
      },
    })
    await close()
  })

  test('fails the question that it answers, and is not answered itself', async () => {
    const { seen, send, outcome, close } = await session()
    send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'ask' } })
    await until(() => seen.some(({ method }) => method === 'roots/list'))
    const { id } = seen.find(({ method }) => method === 'roots/list') ?? {}
    send({ jsonrpc: '2.0', id, result: { roots: [{ uri: `file:///${long}` }] } })
    await until(() => find(seen, 1) !== undefined)
    expect(outcome).toMatchObject([
      { code: 'INVALID_MESSAGE', message: expect.stringContaining('longer than') },
    ])
    const errors = seen.filter((one) => 'error' in one)
    expect(errors).toEqual([])
    await close()
  })

  test('has no answer where it is a notification', async () => {
    const { seen, send, close } = await session()
    send({ jsonrpc: '2.0', method: 'notifications/x', params: { long } })
    send({ jsonrpc: '2.0', id: 2, method: 'ping' })
    await until(() => find(seen, 2) !== undefined)
    expect(seen.filter((one) => 'error' in one)).toEqual([])
    await close()
  })
})

describe('a message that is too long for a client', () => {
  async function connected(given: ConnectOptions = {}) {
    const problems: Error[] = []
    const peer = pipe(({ method }) => {
      if (method === 'server/discover') return { error: { code: -32601, message: 'No' } }
      if (method === 'initialize') return { result: initialized() }
      return method === 'tools/call' ? { result: { content: [text(long)] } } : undefined
    })
    const onError = (error: Error) => problems.push(error)
    const client = await connect(peer.transport, { onError, ...given })
    return { client, problems, ...peer }
  }

  test('fails the call that it answers, at once', async () => {
    const { client, problems } = await connected()
    await expect(client.callTool('x')).rejects.toMatchObject({
      code: 'INVALID_MESSAGE',
      message: expect.stringContaining('longer than 2000 bytes'),
    })
    expect(problems).toEqual([])
    await client.close()
  })

  test('is rejected by its id, and reported to the application', async () => {
    const { client, problems, seen, send } = await connected({ roots: [] })
    send({ jsonrpc: '2.0', id: 'q', method: 'roots/list', params: { long } })
    await until(() => seen.some(({ id }) => id === 'q'))
    expect(seen.find(({ id }) => id === 'q')).toMatchObject({ error: { code: -32600 } })
    expect(problems).toMatchObject([{ message: expect.stringContaining('longer than') }])
    await client.close()
  })

  test('is rejected like any other invalid request [L-RPC-011]', async () => {
    const { client, seen, send } = await connected({ roots: [] })
    send({ jsonrpc: '2.0', id: 'q', method: 'roots/list', params: 5 })
    await until(() => seen.some(({ id }) => id === 'q'))
    expect(seen.find(({ id }) => id === 'q')).toMatchObject({ error: { code: -32600 } })
    await client.close()
  })

  test('has no response where it is not a request', async () => {
    const { client, problems, seen, send } = await connected()
    const before = seen.length
    send({ jsonrpc: '2.0', method: 'notifications/x', params: { long } })
    send({ long })
    await until(() => problems.length === 2)
    expect(seen).toHaveLength(before)
    await client.close()
  })
})
