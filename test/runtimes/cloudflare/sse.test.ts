import { Client as ClientV2, SSEClientTransport as SseV2 } from '@modelcontextprotocol/client'
import { Client as OfficialClient } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { connect } from '../../../src/presets/client.ts'
import { EventReader } from './events.ts'
import { bundleWorker, startWorker, untilWoken, type Workerd } from './workerd.ts'
import { PATIENCE } from '../../patience.ts'
import { initializeRequest } from '../../transport/streamable-http/post.ts'

let workerd: Workerd

beforeAll(async () => {
  workerd = await startWorker(await bundleWorker('worker.ts'))
})
afterAll(() => workerd.stop())

const LISTS = 'notifications/tools/list_changed'
const call = (id: number, name: string, args: object = {}): object => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args, _meta: { progressToken: id } },
})
const initialize = initializeRequest('2025-06-18', { capabilities: { elicitation: {} } })

/** A stream with where to post to, after the handshake unless it is left out. */
async function open(headers: Record<string, string> = {}, handshake = true) {
  const response = await fetch(new URL('/sse?key=1', workerd.url), {
    headers: { accept: 'text/event-stream', ...headers },
  })
  const reader = new EventReader(response)
  const address = new URL((await reader.next())!.data, workerd.url)
  const post = (body: unknown, more: Record<string, string> = {}): Promise<Response> =>
    fetch(address, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers, ...more },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  if (handshake) {
    expect((await post(initialize)).status).toBe(202)
    expect((await reader.next())?.message).toMatchObject({ id: 'init', result: {} })
    await post({ jsonrpc: '2.0', method: 'notifications/initialized' })
  }
  return { reader, address, post }
}

describe('A Worker and clients of HTTP+SSE', () => {
  it('sends the endpoint to post to, and answers on the stream', async () => {
    const { reader, address, post } = await open()
    expect(address.pathname).toBe('/sse')
    expect(address.search).toMatch(/^\?key=1&session=[0-9a-f]{64}$/)
    expect((await post(call(1, 'add', { a: 1, b: 2 }))).status).toBe(202)
    expect((await reader.next())?.message).toMatchObject({ id: 1, result: {} })
    await post(call(2, 'chat'))
    const messages = [await reader.next(), await reader.next(), await reader.next()]
    expect(messages.map((event) => event?.message?.method)).toEqual([
      'notifications/progress',
      'notifications/message',
      'notifications/progress',
    ])
    expect((await reader.next())?.message).toMatchObject({ id: 2 })
    await reader.cancel()
  })

  it('asks on the stream, and is answered by a post', async () => {
    const { reader, post } = await open()
    await post(call(1, 'confirm', { what: 'tea' }))
    const asked = await reader.until('elicitation/create')
    const result = { action: 'accept', content: { yes: true } }
    expect((await post({ jsonrpc: '2.0', id: asked.message?.id, result })).status).toBe(202)
    expect((await reader.until('"id":1')).message).toHaveProperty(
      'result.content.0.text',
      'bought: true',
    )
    await reader.cancel()
  })

  it('carries a result of 4 MB', async () => {
    const { reader, post } = await open()
    await post(call(1, 'large', { bytes: 4e6 }))
    const { message } = await reader.until('"id":1')
    const [{ text }] = message?.result?.content as [{ text: string }]
    expect(text === 'é𝄞'.repeat(1e6)).toBe(true)
    await reader.cancel()
  })

  it('continues when the object left memory', async () => {
    const { reader, post } = await open()
    await untilWoken(workerd, ['sessions'], async () => {
      await workerd.get('/notify')
      expect((await reader.next())?.message?.method).toBe(LISTS)
      await post(call(1, 'add', { a: 1, b: 2 }))
      expect((await reader.next())?.message).toMatchObject({ id: 1, result: {} })
    })
    await reader.cancel()
  })

  it("rejects messages of no stream, of another user's stream, and invalid ones", async () => {
    const { reader, address, post } = await open({ 'x-user': 'ann' })
    expect((await post(call(1, 'add', { a: 1, b: 2 }), { 'x-user': 'bob' })).status).toBe(404)
    expect((await post('no json')).status).toBe(400)
    expect((await post('{}', { 'content-type': 'text/plain' })).status).toBe(415)
    expect((await post(initialize)).status, 'Once is enough').toBe(202)
    expect((await reader.next())?.message).toHaveProperty('error.code', -32600)
    for (const session of ['', 'x', '0'.repeat(64)]) {
      address.searchParams.set('session', session)
      expect((await post(call(1, 'add', { a: 1, b: 2 }))).status).toBe(404)
    }
    const at = new URL('/sse', workerd.url)
    expect((await fetch(at, { headers: { accept: 'text/html' } })).status).toBe(406)
    expect((await fetch(at, { method: 'DELETE' })).status).not.toBe(200)
    const origin = 'https://evil.example'
    expect((await fetch(at, { headers: { origin } })).status).toBe(403)
    await reader.cancel()
  })

  it('rejects requests before the handshake', async () => {
    const { reader, post } = await open({}, false)
    expect((await post(call(1, 'add', { a: 1, b: 2 }))).status).toBe(400)
    await reader.cancel()
  })

  it('ends the session with its stream', async () => {
    const { reader, post } = await open()
    await reader.cancel()
    await vi.waitFor(
      async () => expect((await post(call(1, 'add', { a: 1, b: 2 }))).status).toBe(404),
      PATIENCE,
    )
  })

  it('serves the official client', async () => {
    const client = new OfficialClient({ name: 'official', version: '1' }, { capabilities: {} })
    await client.connect(new SSEClientTransport(new URL('/sse', workerd.url)))
    const progress: number[] = []
    const params = { name: 'count', arguments: { to: 3 } }
    const onprogress = (update: { progress: number }): void => void progress.push(update.progress)
    const { content } = await client.callTool(params, undefined, { onprogress })
    expect(content).toMatchObject([{ text: 'done' }])
    await client.close()
  })

  it('serves the official v2 client, which probes for 2026-07-28 first [I001]', async () => {
    const client = new ClientV2(
      { name: 'official', version: '2' },
      { versionNegotiation: { mode: 'auto' } },
    )
    await client.connect(new SseV2(new URL('/sse', workerd.url)))
    const { structuredContent } = await client.callTool({
      name: 'add',
      arguments: { a: 1, b: 2 },
    })
    expect(structuredContent).toEqual({ sum: 3 })
    await client.close()
  })

  it('serves our client, which detects the transport automatically', async () => {
    const asked: string[] = []
    await using client = await connect(new URL('/sse', workerd.url), {
      onElicit: ({ message }) => {
        asked.push(message)
        return { action: 'accept', content: { yes: true } }
      },
    })
    const { content } = await client.callTool('confirm', { what: 'tea' })
    expect(content).toMatchObject([{ text: 'bought: true' }])
    expect(asked).toEqual(['Buy tea for 42?'])
    const calls = Array.from({ length: 20 }, (_, n) => client.callTool('add', { a: n, b: 1 }))
    const sums = (await Promise.all(calls)).map(({ structuredContent }) => structuredContent)
    expect(sums).toEqual(Array.from({ length: 20 }, (_, n) => ({ sum: n + 1 })))
  })
})
