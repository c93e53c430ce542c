/** A custom transport: lines of JSON over a Unix socket. */
import { createConnection, createServer as listenOn, type Server, type Socket } from 'node:net'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { connect, type Client, type ConnectOptions } from '../../src/presets/client.ts'
import type { JsonObject } from '../../src/protocol/types.ts'
import { createServer, serveTransport } from '../../src/presets/server.ts'
import type { Transport } from '../../src/transport/index.ts'

/** A frame, and who sent it. */
interface Frame {
  readonly from: 'client' | 'server'
  readonly message: JsonObject & { method?: string; id?: unknown; params?: JsonObject }
}

function overSocket(socket: Socket, from: Frame['from'], frames: Frame[]): Transport {
  return {
    start(receiver) {
      createInterface({ input: socket }).on('line', (line) => {
        void receiver.message(JSON.parse(line))
      })
      socket.on('close', () => receiver.closed())
    },
    send(frame) {
      frames.push({ from, message: frame as unknown as Frame['message'] })
      return new Promise(
        (resolve) => void socket.write(`${JSON.stringify(frame)}\n`, () => resolve()),
      )
    },
    close: () => new Promise((resolve) => void socket.end(() => resolve())),
  }
}

const form = z.object({ yes: z.boolean() })
const server = createServer({ name: 's', version: '1' })
server.tool('add', { input: z.object({ a: z.number(), b: z.number() }) }, async ({ a, b }, ctx) => {
  await ctx.progress(1)
  return String(a + b)
})
server.tool('ask', {}, async (_args, ctx) => {
  const at = await ctx.step('at', () => Date.now())
  const first = await ctx.elicit({ message: `At ${at}?`, schema: form })
  const second = await ctx.elicit({ message: `Still at ${at}?`, schema: form })
  return `${first.action} ${second.action}`
})
server.tool('wait', {}, async (_args, ctx) => {
  await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
  return 'too late'
})
server.resource('note://one', { name: 'one' }, () => 'First note')

let folder: string
let listening: Server
let frames: Frame[]
let raw: Socket

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'edgewise-'))
  frames = []
  listening = listenOn(
    (socket) => void serveTransport(server, overSocket(socket, 'server', frames)),
  )
  await new Promise<void>((resolve) => void listening.listen(join(folder, 'mcp'), resolve))
})
afterEach(async () => {
  listening.close()
  await rm(folder, { recursive: true })
})

async function open(options: ConnectOptions = {}): Promise<Client> {
  raw = createConnection(join(folder, 'mcp'))
  await new Promise<void>((resolve) => void raw.once('connect', resolve))
  return connect(overSocket(raw, 'client', frames), {
    onElicit: () => ({ action: 'accept', content: { yes: true } }),
    ...options,
  })
}

describe('a transport of an application', () => {
  test('carries discovery, requests, rounds of input and streams of changes [M-BASE-075] [M-BASE-049]', async () => {
    const client = await open()
    expect(client.revision).toBe('2026-07-28')
    expect(client.serverInfo).toEqual({ name: 's', version: '1' })
    const progress: number[] = []
    const sum = await client.callTool(
      'add',
      { a: 1, b: 2 },
      { onProgress: (update) => progress.push(update.progress) },
    )
    expect([sum.content, progress]).toEqual([[{ type: 'text', text: '3' }], [1]])
    expect((await client.callTool('ask')).content).toEqual([
      { type: 'text', text: 'accept accept' },
    ])
    const changes = await client.listen({ resourceSubscriptions: ['note://one'] })
    server.notify.resourceUpdated('note://one')
    for await (const { method, params } of changes) {
      expect([method, params?.uri]).toEqual(['notifications/resources/updated', 'note://one'])
      break
    }
    const controller = new AbortController()
    const waiting = client.callTool('wait', {}, { signal: controller.signal })
    controller.abort()
    await expect(waiting).rejects.toMatchObject({ code: 'ABORTED' })
    await client.ping()
    await client.close()

    for (const { message } of frames) expect(message.jsonrpc).toBe('2.0')
    const requests = frames.filter(({ message }) => message.method && message.id !== undefined)
    expect(requests.length).toBeGreaterThan(6)
    for (const { message } of requests) {
      expect(message.params?._meta, message.method).toMatchObject({
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
        'io.modelcontextprotocol/clientInfo': { name: 'edgewise' },
      })
    }
  })

  test('carries requests and notifications one way, responses and notifications the other [M-BASE-078]', async () => {
    const client = await open()
    await client.callTool('ask')
    await client.callTool('add', { a: 1, b: 2 }, { onProgress: () => {} })
    const feed = await client.listen({ resourceSubscriptions: ['note://one'] })
    feed.close()
    await client.ping()
    const kind = ({ message }: Frame): string =>
      message.method === undefined
        ? 'response'
        : message.id === undefined
          ? 'notification'
          : 'request'
    const sent = (from: Frame['from']) =>
      new Set(frames.filter((frame) => frame.from === from).map(kind))
    expect(sent('client')).toEqual(new Set(['request', 'notification']))
    expect(sent('server')).toEqual(new Set(['response', 'notification']))

    // What goes the wrong way is not answered, and harms nothing
    const before = frames.length
    raw.write(`${JSON.stringify({ jsonrpc: '2.0', id: 99, result: {} })}\n`)
    await client.ping()
    expect(frames).toHaveLength(before + 2)
    await client.close()
  })
})
