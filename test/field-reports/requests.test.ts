/** Public reports of progress, cancellation and lists that went wrong, replayed. */
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createServer, pagesOf, text } from '../../src/presets/server.ts'
import { sessionHandler } from '../handler.ts'
import { connectTo, duplexPeer, initialized, reply } from '../client/peers.ts'
import { makeServer } from '../server/fixture.ts'
import { allMessages, openSession, post, postModern } from '../transport/streamable-http/post.ts'
import { rawPeer } from './raw-peer.ts'
import { settled } from '../settled.ts'

const legacy = { revision: '2025-11-25' } as const

describe('a progress token', () => {
  it.each([0, '', '0', 'abc'])(
    'may be %j, and comes back as it is [B055]',
    async (progressToken) => {
      const handle = sessionHandler(makeServer().server)
      const { send } = await openSession(handle)
      const params = { name: 'chat', arguments: {}, _meta: { progressToken } }
      const old = await send({ jsonrpc: '2.0', id: 0, method: 'tools/call', params })
      const modern = await postModern(handle, 'tools/call', params)
      for (const response of [old, modern]) {
        const tokens = (await allMessages(response)).flatMap((message) =>
          'method' in message && message.method === 'notifications/progress'
            ? [message.params?.progressToken]
            : [],
        )
        expect(tokens).toEqual([progressToken, progressToken])
      }
    },
  )

  it('with the id 0 can be cancelled, over HTTP and stdio [B055]', async () => {
    const { server, ran } = makeServer()
    const call = { jsonrpc: '2.0', id: 0, method: 'tools/call', params: { name: 'wait' } }
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 0 } }
    const { send } = await openSession(sessionHandler(server))
    const waiting = send(call)
    await expect.poll(() => ran).toEqual(['wait'])
    await send(cancel)
    await expect.poll(() => ran).toEqual(['wait', 'aborted'])
    expect(await (await waiting).text()).toBe('')
    await using peer = await rawPeer(server)
    await peer.initialize()
    await peer.send(call)
    await expect.poll(() => ran).toHaveLength(3)
    await peer.send(cancel)
    await expect.poll(() => ran).toHaveLength(4)
    expect(peer.got.filter(({ id }) => id === 0)).toEqual([])
  })
})

describe('progress that comes late', () => {
  it('is neither delivered nor an error, and messages before the response are delivered first [B057]', async () => {
    const problems: Error[] = []
    const received: unknown[] = []
    const note = (progressToken: unknown, progress: number): void =>
      peer.send({
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken, progress },
      })
    const peer = duplexPeer((message) => {
      if (message.method === 'initialize') return reply(message, initialized())
      if (message.method === 'ping') return reply(message, {})
      if (message.method !== 'tools/call') return undefined
      const params = message.params as { name: string; _meta: { progressToken: unknown } }
      const { progressToken } = params._meta
      note(progressToken, 1)
      if (params.name === 'answered') {
        peer.send(reply(message, { content: [] }))
        note(progressToken, 2)
      }
      return undefined
    })
    await using client = await connectTo(peer, { ...legacy, onError: (e) => problems.push(e) })
    const onProgress = ({ progress }: { progress: number }): void => void received.push(progress)
    await client.callTool('answered', {}, { onProgress })
    received.push('answered')
    const controller = new AbortController()
    const { signal } = controller
    const aborted = client.callTool('aborted', {}, { onProgress, signal })
    await expect.poll(() => received).toEqual([1, 'answered', 1])
    controller.abort()
    await expect(aborted).rejects.toMatchObject({ code: 'ABORTED' })
    const late = client.callTool('late', {}, { onProgress, timeoutMs: 20 })
    await expect(late).rejects.toMatchObject({ code: 'TIMEOUT' })
    for (const call of peer.received('tools/call')) note(call.id, 3)
    note('never', 4)
    await client.ping()
    expect(received).toEqual([1, 'answered', 1, 1])
    expect(problems).toEqual([])
  })
})

describe('cancellation', () => {
  it('reaches the handler while it runs, is not answered, and odd ones are ignored [B059]', async () => {
    const reasons: unknown[] = []
    let finish = (): void => {}
    const server = createServer({ name: 's', version: '1' })
    server.tool('slow', { input: z.object({}) }, async (_args, ctx) => {
      ctx.signal.addEventListener('abort', () => reasons.push(ctx.signal.reason))
      await new Promise<void>((resolve) => (finish = resolve))
      return text('too late')
    })
    await using peer = await rawPeer(server)
    await peer.initialize()
    const params = { name: 'slow', arguments: {} }
    await peer.send({ jsonrpc: '2.0', id: 9, method: 'tools/call', params })
    const cancel = (params?: object): Promise<void> =>
      peer.send({ jsonrpc: '2.0', method: 'notifications/cancelled', ...(params && { params }) })
    for (const odd of [undefined, {}, { requestId: '9' }, { requestId: 12345 }, { requestId: {} }])
      await cancel(odd)
    await peer.send({ jsonrpc: '2.0', id: 10, method: 'ping' })
    await peer.until(({ id }) => id === 10)
    expect(reasons).toEqual([])
    await cancel({ requestId: 9, reason: 'no need' })
    await expect.poll(() => reasons).toHaveLength(1)
    await cancel({ requestId: 9 })
    finish()
    await peer.send({ jsonrpc: '2.0', id: 11, method: 'ping' })
    await peer.until(({ id }) => id === 11)
    await cancel({ requestId: 11 })
    await peer.send({ jsonrpc: '2.0', id: 12, method: 'ping' })
    await peer.until(({ id }) => id === 12)
    expect(peer.got.map(({ id }) => id)).toEqual(['init', 10, 11, 12])
  })

  it('of the client by the server is ignored, in either era [B059]', async () => {
    const problems: Error[] = []
    const peer = duplexPeer((message) => {
      if (message.method === 'initialize') return reply(message, initialized())
      if (message.method !== 'tools/call') return undefined
      const params = { requestId: message.id }
      peer.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params })
      return reply(message, { content: [] })
    })
    await using client = await connectTo(peer, { ...legacy, onError: (e) => problems.push(e) })
    expect(await client.callTool('a')).toEqual({ content: [] })
    expect(problems).toEqual([])
  })
})

describe('a cursor', () => {
  it('that is empty is invalid, and an absent one starts at the beginning [B061]', async () => {
    const { server } = makeServer({ pages: pagesOf(2) })
    const handle = sessionHandler(server, { sessions: false })
    const list = async (params: object): Promise<unknown> => {
      const message = { jsonrpc: '2.0', id: 1, method: 'tools/list', params }
      const body = await (await post(handle, message)).json()
      return body.error?.code ?? body.result.tools.length
    }
    expect(await list({})).toBe(2)
    for (const cursor of ['', 'x', null, 0, '0']) expect(await list({ cursor })).toBe(-32602)
  })
})

describe('a time that is longer than timers can measure', () => {
  it.each([2 ** 31, Infinity])(
    'does not expire at once, on the server either: %d [B015]',
    async (ms) => {
      const server = createServer({ name: 's', version: '1' })
      server.tool('roots', {}, async (_args, ctx) => text(String((await ctx.roots()).length)))
      await using peer = await rawPeer(server, { inputTimeoutMs: ms })
      await peer.initialize({ roots: {} })
      await peer.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'roots' } })
      const { id: question } = await peer.until(({ method }) => method === 'roots/list')
      await settled()
      await peer.send({ jsonrpc: '2.0', id: question, result: { roots: [] } })
      const { result } = await peer.until(({ id, method }) => id === 1 && !method)
      expect(result).toEqual({ content: [text('0')] })

      const handle = sessionHandler(makeServer().server, { keepAliveMs: ms })
      const { id } = await openSession(handle)
      const headers = { accept: 'text/event-stream', 'mcp-session-id': id }
      const stream = await handle(new Request('http://localhost/mcp', { headers }))
      await settled()
      await handle.close()
      expect(await stream.text()).not.toContain('\n:\n')
    },
  )
})
