import { describe, expect, test, vi } from 'vitest'
import { middleware } from '../../src/presets/client.ts'
import {
  connectTo,
  discovered,
  duplexPeer,
  initialized,
  legacyPeer,
  refuse,
  reply,
  result,
  until,
} from './peers.ts'

const question = {
  jsonrpc: '2.0',
  method: 'elicitation/create',
  params: { message: 'Who?', requestedSchema: { type: 'object', properties: {} } },
}

function sessionPeer() {
  return duplexPeer((message) => {
    if (message.method === 'server/discover') return refuse(message, -32601)
    if (message.method === 'initialize') return reply(message, initialized())
    return message.id === undefined || !message.method ? undefined : reply(message, {})
  })
}

describe('A client without handlers', () => {
  test('rejects every question in order, also those that arrive at once', async () => {
    const peer = sessionPeer()
    const client = await connectTo(peer)
    for (const id of ['a', 'b', 'c']) peer.send({ ...question, id })
    const answers = () => peer.messages.filter(({ error }) => error !== undefined)
    await until(() => answers().length === 3)
    expect(answers()).toMatchObject(['a', 'b', 'c'].map((id) => ({ id, error: { code: -32601 } })))
    await client.close()
  })

  test('lets its middleware answer questions, and stops with the one that the server cancels', async () => {
    const peer = sessionPeer()
    const client = await connectTo(peer)
    const aborted = vi.fn()
    client.use(
      'elicitation/create',
      middleware(async (_message, { options }) => {
        await new Promise<void>((resolve) => {
          options?.signal?.addEventListener('abort', () => {
            aborted()
            resolve()
          })
        })
        return { action: 'cancel' }
      }),
    )
    peer.send({ ...question, id: 'a' })
    peer.send({ ...question, id: 'b' })
    const params = { requestId: 'b' }
    peer.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params })
    await until(() => aborted.mock.calls.length === 1)
    await client.close()
    expect(aborted).toHaveBeenCalledTimes(2)
    expect(peer.messages.some(({ result: answer }) => answer !== undefined)).toBe(false)
  })

  test('forgets a cached list when a session announces its change', async () => {
    let lists = 0
    const peer = legacyPeer((request) => {
      if (request.message.method === 'tools/list') {
        return result(request, { tools: [], ttlMs: 60_000, version: ++lists })
      }
      const changed = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' }
      const answer = { jsonrpc: '2.0', id: request.message.id, result: { content: [] } }
      const events = [changed, answer].map((event) => `data: ${JSON.stringify(event)}\n\n`)
      return new Response(events.join(''), { headers: { 'content-type': 'text/event-stream' } })
    })
    await using client = await connectTo(peer)
    await client.listAllTools()
    await client.listAllTools()
    expect(lists).toBe(1)
    await client.callTool('change')
    await client.listAllTools()
    expect(lists).toBe(2)
  })
})

describe('A client with a handler', () => {
  test.each([
    ['onElicit', { onElicit: () => ({ action: 'decline' }) as const }, { elicitation: {} }],
    ['roots', { roots: [] }, { roots: {} }],
  ])('declares its capability when it connects: %s', async (_name, options, capability) => {
    const peer = duplexPeer((message) => reply(message, discovered()))
    await using client = await connectTo(peer, options)
    expect(client.revision).toBe('2026-07-28')
    const meta = peer.received('server/discover')[0]?.params as { _meta: object }
    expect(meta._meta).toMatchObject({
      'io.modelcontextprotocol/clientCapabilities': capability,
    })
  })
})
