/** Public reports of messages that were misread or not answered, replayed on both sides. */
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createServer, text } from '../../src/presets/server.ts'
import { sessionHandler } from '../handler.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import {
  connectTo,
  duplexPeer,
  error,
  initialized,
  json,
  legacyPeer,
  reply,
} from '../client/peers.ts'
import { makeServer } from '../server/fixture.ts'
import {
  lastMessage,
  modernHeaders,
  modernRequest,
  openSession,
  post,
  postRaw,
} from '../transport/streamable-http/post.ts'
import { rawPeer } from './raw-peer.ts'

const legacy = { revision: '2025-11-25' } as const

describe('JSON that is no message', () => {
  it('is answered by id where it has one, and never when it is a notification [B005]', async () => {
    await using peer = await rawPeer(makeServer().server)
    await peer.write('{"id":7,"method":"ping"}\n')
    await peer.write('{"jsonrpc":"2.0","id":8,"method":5}\n')
    await peer.write('{"jsonrpc":"2.0","method":5}\n')
    await peer.write('42\nnull\n{"jsonrpc":"2.0","id":9\n')
    await peer.write('{"jsonrpc":"2.0","id":10,"method":"ping"}\n')
    await peer.until(({ id }) => id === 10)
    const seen = peer.got.map(({ id, error: fault }) => [id, (fault as { code: number })?.code])
    expect(seen).toEqual([
      [7, -32600],
      [8, -32600],
      [undefined, -32600],
      [undefined, -32600],
      [undefined, -32700],
      [10, undefined],
    ])
    expect(peer.got.some((message) => 'id' in message && (message.id ?? null) === null)).toBe(false)
  })
})

describe('null as an id', () => {
  it('of a request is refused and nothing runs, over HTTP and stdio [B041]', async () => {
    const { server, ran } = makeServer()
    const call = { method: 'tools/call', params: { name: 'add', arguments: { a: 1, b: 2 } } }
    const { send } = await openSession(sessionHandler(server))
    const response = await send({ jsonrpc: '2.0', id: null, ...call })
    expect(response.status).toBe(400)
    const body = await lastMessage(response)
    expect(body.error.code).toBe(-32600)
    expect(body).not.toHaveProperty('id')
    await using peer = await rawPeer(server)
    await peer.write('{"jsonrpc":"2.0","id":null,"method":"ping"}\n')
    await peer.until(({ error: fault }) => fault !== undefined)
    expect(peer.got[0]).not.toHaveProperty('id')
    expect(ran).toEqual([])
  })

  it('is in no response to an unreadable message [B041]', async () => {
    const handle = sessionHandler(makeServer().server)
    for (const response of [
      await postRaw(handle, '{"jsonrpc":"2.0","id":1'),
      await postRaw(handle, '{}', { 'content-type': 'text/plain' }),
      await postRaw(handle, '{}', { accept: 'text/html' }),
    ]) {
      expect(await response.json()).not.toHaveProperty('id')
    }
  })

  it.each([{ id: null }, {}])(
    'with an error belongs to the HTTP request that it answers: %j [B041]',
    async (id) => {
      const data = { why: 'old' }
      const peer = legacyPeer(() =>
        json({ jsonrpc: '2.0', ...id, error: { code: -32000, message: 'Bad', data } }, 400),
      )
      await using client = await connectTo(peer, legacy)
      const failure = client.callTool('a')
      await expect(failure).rejects.toMatchObject({ code: -32000, message: 'Bad', data })
    },
  )
})

describe('unknown methods and responses', () => {
  it('unknown requests are answered with -32601 and their id, and unknown notifications are accepted [B045]', async () => {
    const handle = sessionHandler(makeServer().server)
    const { send } = await openSession(handle)
    const unknown = { jsonrpc: '2.0', id: 5, method: 'no/such' }
    const old = await send(unknown)
    expect([old.status, await old.json()]).toMatchObject([200, { id: 5, error: { code: -32601 } }])
    const { status } = await send({ jsonrpc: '2.0', method: 'no/such' })
    expect(status).toBe(202)
    const request = { ...modernRequest('no/such'), id: 5 }
    const modern = await post(handle, request, modernHeaders('no/such'))
    expect([modern.status, await modern.json()]).toMatchObject([
      404,
      { id: 5, error: { code: -32601 } },
    ])
    const { id: _, ...notification } = request
    expect((await post(handle, notification, modernHeaders('no/such'))).status).toBe(202)
    await using peer = await rawPeer(makeServer().server)
    await peer.initialize()
    await peer.write(`${JSON.stringify(unknown)}\n`)
    expect(await peer.until(({ id }) => id === 5)).toMatchObject({ error: { code: -32601 } })
  })

  it('requests of the server without a handler are answered with -32601 [B045]', async () => {
    const peer = duplexPeer((message) =>
      message.method === 'initialize' ? reply(message, initialized()) : undefined,
    )
    await using _client = await connectTo(peer, legacy)
    for (const method of ['no/such', 'roots/list', 'sampling/createMessage']) {
      peer.send({ jsonrpc: '2.0', id: method, method })
      await expect
        .poll(() => peer.messages.find(({ id }) => String(id) === method))
        .toMatchObject({ error: { code: -32601 } })
    }
  })

  it('unexpected or invalid responses do no harm to a server [B045]', async () => {
    const odd = [
      { jsonrpc: '2.0', id: 99, result: {} },
      { jsonrpc: '2.0', id: 99, error: { code: 1, message: 'x' } },
      { jsonrpc: '2.0', id: 99, result: {}, error: { code: 1, message: 'x' } },
      { jsonrpc: '2.0', id: 99 },
    ]
    await using peer = await rawPeer(makeServer().server)
    await peer.initialize()
    for (const message of odd) await peer.write(`${JSON.stringify(message)}\n`)
    await peer.write('{"jsonrpc":"2.0","id":10,"method":"ping"}\n')
    expect(await peer.until(({ id }) => id === 10)).toMatchObject({ result: {} })
    const { send } = await openSession(sessionHandler(makeServer().server))
    const statuses: number[] = []
    for (const message of odd) statuses.push((await send(message)).status)
    expect(statuses).toEqual([202, 202, 400, 400])
    expect((await send({ jsonrpc: '2.0', id: 10, method: 'ping' })).status).toBe(200)
  })

  it.each([
    { result: { roots: [] }, error: { code: 1, message: 'x' } },
    {},
    { result: null },
    { error: 'x' },
  ])('an invalid response fails the request of the server at once: %j [B045]', async (answer) => {
    const server = createServer({ name: 's', version: '1' })
    server.tool('roots', {}, async (_args, ctx) => {
      const failure: unknown = await ctx.roots().catch((e: unknown) => e)
      return text(failure instanceof Error ? 'failed' : 'answered')
    })
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'roots' } }
    await using peer = await rawPeer(server)
    await peer.initialize({ roots: {} })
    await peer.write(`${JSON.stringify(call)}\n`)
    const asked = await peer.until(({ method }) => method === 'roots/list')
    await peer.write(`${JSON.stringify({ jsonrpc: '2.0', id: asked.id, ...answer })}\n`)
    const { result } = await peer.until(({ id, method }) => id === 1 && method === undefined)
    expect(result).toMatchObject({ content: [{ type: 'text', text: 'failed' }] })

    const { send } = await openSession(sessionHandler(server), '2025-11-25', { roots: {} })
    const response = await send(call)
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    let stream = ''
    const id = /"id":(\d+),"method":"roots\/list"/
    while (!id.test(stream)) stream += new TextDecoder().decode((await reader.read()).value)
    const question = Number(id.exec(stream)?.[1])
    expect((await send({ jsonrpc: '2.0', id: question, ...answer })).status).toBe(400)
    for (let end = false; !end;) {
      const { value, done } = await reader.read()
      stream += new TextDecoder().decode(value)
      end = done
    }
    expect(stream).toContain('"text":"failed"')
  })
})

describe('unknown members', () => {
  const _meta = { 'x.y/z': 1, 'io.modelcontextprotocol/related-task': { taskId: 't' } }

  it.each(['2025-06-18', '2025-11-25', '2026-07-28'] as const)(
    'are passed on in both directions in %s [B047]',
    async (revision) => {
      const block = { type: 'text' as const, text: 'x', foo: 1, _meta: { 'a.b/c': [1] } }
      let received: unknown
      const server = createServer(
        { name: 's', version: '1' },
        { capabilities: { foo: {}, experimental: { bar: { baz: 1 } } } },
      )
      const annotations = { readOnlyHint: true, vendor: 'x' }
      server.tool('echo', { input: z.looseObject({ a: z.number() }), annotations }, (args, ctx) => {
        received = { args, meta: ctx.meta }
        return { content: [block], _meta, ext: 1 }
      })
      await using client = await connectInMemory(server, { revision })
      expect(client.serverCapabilities).toMatchObject({
        foo: {},
        experimental: { bar: { baz: 1 } },
      })
      expect((await client.listAllTools())[0]?.annotations).toEqual(annotations)
      const args = { a: 1, more: { x: [null] } }
      const result = await client.callTool('echo', args, { meta: _meta })
      expect(result).toMatchObject({ content: [block], _meta, ext: 1 })
      expect(received).toMatchObject({ args, meta: _meta })
    },
  )

  it('of a result are kept by the client [B047]', async () => {
    const content = [{ type: 'text', text: 'x', foo: 1, _meta: {} }]
    const peer = legacyPeer((request) =>
      json({
        jsonrpc: '2.0',
        id: request.message.id,
        result: { content, _meta, ext: 1 },
        extra: 1,
      }),
    )
    await using client = await connectTo(peer, legacy)
    expect(await client.callTool('a')).toEqual({ content, _meta, ext: 1 })
  })
})

it('an error in place of a result keeps its code, with any HTTP status [B045]', async () => {
  const peer = legacyPeer((request) => error(request, -32601, 404), { session: '' })
  await using client = await connectTo(peer, legacy)
  await expect(client.request('no/such')).rejects.toMatchObject({ code: -32601, status: 404 })
})
