/** Peers that send anything at any time, in both roles: nothing crashes, hangs or answers nonsense. */
import { describe, expect, it } from 'vitest'
import type { ConnectOptions } from '../../src/presets/client.ts'
import {
  SdkError,
  ProtocolError,
  validateMessage,
  type JsonObject,
  type JsonRpcMessage,
} from '../../src/index.ts'
import type { ObjectSchema } from '../../src/protocol/types.ts'
import { createServer, createSseHandler, serveTransport } from '../../src/presets/server.ts'
import { inMemoryTransports } from '../../src/testing/index.ts'
import { stdioTransport } from '../../src/transport/index.ts'
import {
  connectTo,
  discovered,
  duplexPeer,
  httpPeer,
  initialized,
  json,
  reply,
} from '../client/peers.ts'
import { sessionHandler } from '../handler.ts'
import { makeServer } from '../server/fixture.ts'
import { modernRequest, openSession } from '../transport/streamable-http/post.ts'
import { cut, mutate } from './mutate.ts'
import { Random } from './random.ts'
import { expectNoRejections } from './rejections.ts'

expectNoRejections()

const content = [{ type: 'text', text: 'a' }]
const clientInfo = { name: 'c', version: '1' }
const form: ObjectSchema = {
  type: 'object',
  properties: { name: { type: 'string', default: 'Ada' } },
}

/** What a server may send at any time. */
const SERVER_MESSAGES: readonly JsonObject[] = [
  { id: 1e6, method: 'ping' },
  { id: 2e6, method: 'roots/list' },
  {
    id: 3e6,
    method: 'sampling/createMessage',
    params: { messages: [{ role: 'user', content: content[0] }], maxTokens: 1 },
  },
  { id: 4e6, method: 'elicitation/create', params: { message: 'Who?', requestedSchema: form } },
  {
    id: 5e6,
    method: 'elicitation/create',
    params: { mode: 'url', message: 'Go', url: 'https://a.example/', elicitationId: 'e' },
  },
  { method: 'notifications/cancelled', params: { requestId: 3e6, reason: 'No' } },
  { method: 'notifications/progress', params: { progressToken: 3, progress: 1, total: 2 } },
  { method: 'notifications/message', params: { level: 'info', data: {} } },
  { method: 'notifications/tools/list_changed' },
  { method: 'notifications/resources/updated', params: { uri: 'note://one' } },
  { method: 'notifications/elicitation/complete', params: { elicitationId: 'e' } },
  { id: 6e6, result: { content } },
  { id: 7e6, error: { code: -32603, message: 'No' } },
]

const handlers: ConnectOptions = {
  capabilities: { elicitation: { form: {}, url: {} }, sampling: { tools: {} } },
  onElicit: () => ({ action: 'accept', content: {} }),
  onSample: () => ({ role: 'assistant', model: 'm', content: { type: 'text', text: 'a' } }),
  roots: [{ uri: 'file:///a' }],
  onToolsChanged: () => {},
  onResourceUpdated: () => {},
  onLog: () => {},
  onError: () => {},
}

describe('a server that sends any message at any time', () => {
  it.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'] as const)(
    'in %s does not disturb the calls of a client, which sends nothing but messages',
    async (revision) => {
      const random = new Random(21)
      const peer = duplexPeer((message) => {
        expect(() => validateMessage(message)).not.toThrow()
        if (message.method === 'initialize') return reply(message, initialized(revision))
        if (message.method === 'server/discover') return reply(message, discovered())
        if (message.method === 'subscriptions/listen' || message.id === undefined) return undefined
        return message.method === 'tools/call' ? reply(message, { content }) : undefined
      })
      const client = await connectTo(peer, { ...handlers, revision })
      for (let n = 0; n < 400; n++) {
        // With ids of no call, because a message that looks like its response would be
        const { id, ...sent } = random.pick(SERVER_MESSAGES)
        const damaged = mutate(random, {
          jsonrpc: '2.0',
          ...(id !== undefined && { id: Number(id) + n }),
          ...sent,
        })
        peer.send(random.chance(0.1) ? [damaged, damaged] : damaged)
        if (n % 20 === 0) expect(await client.callTool('a')).toEqual({ content })
      }
      expect(await client.callTool('a')).toEqual({ content })
      await client.close()
    },
  )

  it.each(['a transport', 'HTTP'])(
    'during the handshake over %s leads to a client or to an error of ours',
    async (way) => {
      const random = new Random(22)
      const answers = (message: JsonObject): unknown => {
        const { method } = message
        if (method === 'server/discover') return reply(message, discovered())
        return method === 'initialize' ? reply(message, initialized()) : reply(message, { content })
      }
      for (let n = 0; n < 60; n++) {
        const harm = (message: JsonObject): unknown => {
          if (message.id === undefined) return undefined
          return random.chance(0.6) ? mutate(random, answers(message)) : answers(message)
        }
        const peer =
          way === 'HTTP'
            ? httpPeer(({ message, method }) => {
                if (method !== 'POST') return new Response(null, { status: 405 })
                const answer = harm(message)
                return answer === undefined ? new Response(null, { status: 202 }) : json(answer)
              })
            : duplexPeer(harm)
        const options = { timeoutMs: 10, probeTimeoutMs: 5, versionCache: new Map(), onError() {} }
        const outcome = await connectTo(peer, options).then(
          async (client) => void (await client.close()),
          (error: unknown) => error,
        )
        const ours = outcome instanceof SdkError || outcome instanceof ProtocolError
        expect(outcome === undefined || ours, `round ${n}: ${String(outcome)}`).toBe(true)
      }
    },
  )
})

describe('a client that answers anything', () => {
  it.each(['2024-11-05', '2025-06-18', '2025-11-25'] as const)(
    'in %s has each of its calls end, and the connection continue',
    async (revision) => {
      const random = new Random(23)
      const server = createServer({ name: 's', version: '1' }, { onError: () => {} })
      server.tool('confirm', {}, async (_args, ctx) => {
        const schema = { ...form, required: ['name'] }
        return (await ctx.elicit({ message: 'Who?', schema })).action
      })
      server.tool('think', {}, async (_args, ctx) => {
        const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: 'a' } }]
        return JSON.stringify(await ctx.sample({ messages, maxTokens: 1 }))
      })
      server.tool('where', {}, async (_args, ctx) => JSON.stringify(await ctx.roots()))
      const [near, far] = inMemoryTransports()
      void serveTransport(server, far, { inputTimeoutMs: 20 })
      const ended = new Map<unknown, JsonObject>()
      const results: Record<string, JsonObject> = {
        'elicitation/create': { action: 'accept', content: { name: 'Ada' } },
        'sampling/createMessage': { role: 'assistant', model: 'm', content: content[0] },
        'roots/list': { roots: [{ uri: 'file:///a' }] },
      }
      await near.start({
        message(frame) {
          const message: JsonObject = { ...validateMessage(frame) }
          if (message.id === undefined) return
          if (!('method' in message)) return void ended.set(message.id, message)
          const answer = mutate(random, {
            jsonrpc: '2.0',
            id: message.id,
            result: results[String(message.method)],
          })
          void near.send(answer as JsonRpcMessage)
        },
        malformed() {},
        closed() {},
      })
      const capabilities = { elicitation: {}, sampling: {}, roots: {} }
      const params = { protocolVersion: revision, capabilities, clientInfo }
      await near.send({ jsonrpc: '2.0', id: 'init', method: 'initialize', params })
      await near.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
      for (let n = 0; n < 300; n++) {
        const name = random.pick(['confirm', 'think', 'where'])
        await near.send({ jsonrpc: '2.0', id: n, method: 'tools/call', params: { name } })
      }
      await expect.poll(() => ended.size).toBe(301)
      await near.close()
    },
  )

  it('in bytes cut anywhere is answered by lines that are messages', async () => {
    const random = new Random(24)
    const lines: string[] = []
    for (let n = 0; n < 600; n++) {
      const request = random.chance(0.5)
        ? { ...modernRequest('tools/call', { name: 'add', arguments: { a: 1, b: 2 } }), id: n }
        : { jsonrpc: '2.0', id: n, method: 'tools/list', params: {} }
      const line = JSON.stringify(random.chance(0.6) ? mutate(random, request) : request)
      lines.push(random.chance(0.2) ? random.mutate(line).replaceAll('\n', '') : line)
    }
    lines.push(JSON.stringify({ jsonrpc: '2.0', id: 'last', method: 'ping' }))
    const pieces = cut(random, lines.join('\n') + '\n')
    const input = new ReadableStream<Uint8Array>({
      pull(controller) {
        const piece = pieces.shift()
        if (piece) controller.enqueue(piece)
      },
    })
    let output = ''
    const decoder = new TextDecoder()
    const written = new WritableStream<Uint8Array>({
      write: (chunk) => void (output += decoder.decode(chunk, { stream: true })),
    })
    const ending = new AbortController()
    const { server } = makeServer({ onError: () => {} })
    const served = serveTransport(server, stdioTransport(input, written), { signal: ending.signal })
    await expect.poll(() => output).toContain('"id":"last"')
    ending.abort()
    await served
    for (const line of output.trimEnd().split('\n')) {
      expect(() => validateMessage(JSON.parse(line)), line.slice(0, 200)).not.toThrow()
    }
  })
})

describe('headers of any kind', () => {
  it.each(['Streamable HTTP', 'HTTP+SSE'])(
    'are answered over %s, never by a failure of the server',
    async (way) => {
      const random = new Random(25)
      const failures: unknown[] = []
      const { server } = makeServer({ onError: (error) => failures.push(error) })
      const http = sessionHandler(server)
      const handle = way === 'HTTP+SSE' ? createSseHandler(server) : http
      const session = await openSession(http)
      const values: Record<string, string[]> = {
        accept: ['application/json', 'text/event-stream', '*/*', 'text/html', ''],
        'content-type': ['application/json', 'application/json; charset=latin1', 'text/plain'],
        'mcp-protocol-version': ['2025-11-25', '2026-07-28', '2025-03-26', '1.0', '9999-99-99'],
        'mcp-session-id': [session.id, 'x', ''],
        'mcp-method': ['tools/list', 'ping', '=?base64?!?='],
        'mcp-name': ['add', '=?base64?YWRk?='],
        'last-event-id': ['x', `${session.id}_1`, '0', ''],
        origin: ['http://localhost', 'null', 'https://evil.example', 'x'],
        'content-length': ['0', '-1', 'x', '999999999999'],
      }
      for (let n = 0; n < 600; n++) {
        const method = random.pick(['GET', 'POST', 'DELETE', 'PUT', 'OPTIONS', 'HEAD'])
        const headers = new Headers()
        for (const [name, choices] of Object.entries(values)) {
          if (random.chance(0.4)) continue
          const value = random.chance(0.7) ? random.pick(choices) : random.text(12, ' !;=,?"a1-:/')
          headers.append(name, value)
        }
        // A session that a DELETE ends is missed by all that follow
        if (method === 'DELETE') headers.delete('mcp-session-id')
        const ping = JSON.stringify({ jsonrpc: '2.0', id: n, method: 'ping' })
        const body = method === 'POST' ? { body: random.chance(0.8) ? ping : random.text(20) } : {}
        const url = `http://localhost/mcp${random.chance(0.3) ? '?session=x' : ''}`
        const response = await handle(new Request(url, { method, headers, ...body }))
        expect(response.status, `round ${n}`).toBeLessThan(500)
        const type = response.headers.get('content-type') ?? ''
        if (type.startsWith('application/json')) {
          const message: unknown = await response.json()
          expect(() => validateMessage(message), `round ${n}`).not.toThrow()
        } else await response.body?.cancel()
      }
      expect(failures).toEqual([])
      expect((await session.send({ jsonrpc: '2.0', id: 'last', method: 'ping' })).status).toBe(200)
      await handle.close()
    },
  )
})
