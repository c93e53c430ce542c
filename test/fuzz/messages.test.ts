/** Damaged messages, headers and chunks: both sides survive any input and send nothing invalid. */
import { describe, expect, it } from 'vitest'
import { connect } from '../../src/presets/client.ts'
import { SdkError, ProtocolError, validateMessage, type JsonRpcMessage } from '../../src/index.ts'
import { serveTransport } from '../../src/presets/server.ts'
import { sessionHandler } from '../handler.ts'
import { inMemoryTransports } from '../../src/testing/index.ts'
import {
  allMessages,
  modernHeaders,
  modernRequest,
  openSession,
  post,
  postModern,
} from '../transport/streamable-http/post.ts'
import { makeServer } from '../server/fixture.ts'
import { cut, mutate } from './mutate.ts'
import { Random } from './random.ts'
import { expectNoRejections } from './rejections.ts'

expectNoRejections()

const CALLS = [
  ['server/discover', {}],
  ['tools/list', { cursor: 'x' }],
  ['tools/call', { name: 'add', arguments: { a: 1, b: 2 } }],
  ['tools/call', { name: 'chat', arguments: {}, _meta: { progressToken: 1 } }],
  [
    'tools/call',
    { name: 'confirm', arguments: { what: 'x' }, inputResponses: {}, requestState: 'x' },
  ],
  ['resources/read', { uri: 'user://a/profile' }],
  ['prompts/get', { name: 'greet', arguments: { who: 'x' } }],
  [
    'completion/complete',
    { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'who', value: '' } },
  ],
  ['logging/setLevel', { level: 'info' }],
  ['resources/subscribe', { uri: 'note://one' }],
  ['ping', {}],
] as const

describe('damaged requests over HTTP', () => {
  it('get an answer that is a message, or none, and harm no other request', async () => {
    const random = new Random(11)
    const { server } = makeServer()
    const handle = sessionHandler(server)
    const session = await openSession(handle)
    for (let n = 0; n < 800; n++) {
      const [method, params] = random.pick(CALLS)
      const modern = random.chance(0.5)
      const request = modern
        ? modernRequest(method, params, { elicitation: {} })
        : { jsonrpc: '2.0', id: n, method, params }
      const headers: Record<string, string | undefined> = modern
        ? modernHeaders(
            method,
            (params as { name?: string; uri?: string }).name ?? (params as { uri?: string }).uri,
          )
        : { 'mcp-session-id': session.id }
      if (random.chance(0.2))
        headers[random.pick(Object.keys(headers))] = random.text(8, 'abc=?0-:/')
      const response = await post(handle, mutate(random, request), headers)
      expect(response.status, `round ${n}`).toBeLessThan(500)
      const text = await response.clone().text()
      if (text === '') continue
      for (const message of [await allMessages(response)].flat(2)) {
        expect(() => validateMessage(message), `round ${n}: ${text.slice(0, 200)}`).not.toThrow()
      }
    }
    expect((await session.send({ jsonrpc: '2.0', id: 'last', method: 'ping' })).status).toBe(200)
    expect((await postModern(handle, 'tools/list')).status).toBe(200)
  })
})

describe('damaged frames on a connection', () => {
  it('are answered by messages, and the connection continues', async () => {
    const random = new Random(12)
    const [near, far] = inMemoryTransports()
    void serveTransport(makeServer().server, far)
    const got: JsonRpcMessage[] = []
    await near.start({
      message: (frame) => void got.push(...([frame].flat() as JsonRpcMessage[])),
      malformed: () => {},
      closed: () => {},
    })
    const params = {
      protocolVersion: '2025-03-26',
      capabilities: {},
      clientInfo: { name: 'c', version: '1' },
    }
    await near.send({ jsonrpc: '2.0', id: 'init', method: 'initialize', params })
    for (let n = 0; n < 2000; n++) {
      const [method, given] = random.pick(CALLS)
      const request = random.chance(0.5)
        ? { ...modernRequest(method, given), id: n }
        : { jsonrpc: '2.0', id: n, method, params: given }
      const frame = random.chance(0.1)
        ? [mutate(random, request), mutate(random, request)]
        : mutate(random, request)
      await near.send(frame as JsonRpcMessage)
    }
    await near.send({ jsonrpc: '2.0', id: 'last', method: 'ping' })
    const last = (): unknown => got.find((message) => 'id' in message && message.id === 'last')
    await expect.poll(last).toMatchObject({ result: {} })
    for (const message of got) expect(() => validateMessage(message)).not.toThrow()
    await near.close()
  })
})

describe('a list of tools with invalid members', () => {
  it.each([null, 5, 'x', []])('%j fails the call', async (tool) => {
    const handle = sessionHandler(makeServer().server)
    const client = await connect('http://localhost/mcp', {
      fetch: async (url, init) => {
        const response = await handle(new Request(url, init))
        const { method, id } = JSON.parse(init.body as string) as { method: string; id: number }
        if (method !== 'tools/list') return response
        return Response.json({
          jsonrpc: '2.0',
          id,
          result: { resultType: 'complete', tools: [tool] },
        })
      },
    })
    await expect(client.listAllTools()).rejects.toMatchObject({ code: 'INVALID_MESSAGE' })
    await client.close()
  })
})

describe('damaged answers to a client', () => {
  it.each(['2025-11-25', '2026-07-28'] as const)(
    'of %s fail the call with an error of ours, and the next call works',
    async (revision) => {
      const random = new Random(13)
      const handle = sessionHandler(makeServer().server)
      let harm = false
      const client = await connect('http://localhost/mcp', {
        revision,
        onError: () => {},
        fetch: async (url, init) => {
          const response = await handle(new Request(url, init))
          if (!harm || response.status === 202) return response
          const body = await response.text()
          const type = response.headers.get('content-type') ?? ''
          const damaged = type.startsWith('application/json')
            ? JSON.stringify(mutate(random, JSON.parse(body)))
            : body.replace(/\{.*\}/, (json) => JSON.stringify(mutate(random, JSON.parse(json))))
          const stream = new ReadableStream({
            start(controller) {
              for (const piece of cut(random, damaged)) controller.enqueue(piece)
              controller.close()
            },
          })
          return new Response(stream, { status: response.status, headers: response.headers })
        },
      })
      // Only what is damaged may be without an answer
      const quick = { timeoutMs: 200 }
      for (let n = 0; n < 80; n++) {
        harm = true
        const call = random.pick([
          () => client.callTool('add', { a: 1, b: 2 }, quick),
          () => client.callTool('chat', {}, { ...quick, onProgress: () => {} }),
          () => client.readResource('note://one', quick),
          () => client.listAllTools({ ...quick, cache: 'reload' }),
          () => client.getPrompt('greet', { who: 'x' }, quick),
        ])
        const error = await call().then(
          () => undefined,
          (thrown: unknown) => thrown,
        )
        if (error)
          expect(error instanceof SdkError || error instanceof ProtocolError, String(error)).toBe(
            true,
          )
        harm = false
        expect(await client.callTool('add', { a: 1, b: 2 })).toMatchObject({
          content: [{ type: 'text' }],
        })
      }
      await client.close()
    },
  )
})
