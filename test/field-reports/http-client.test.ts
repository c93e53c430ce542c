/** Public reports of clients over HTTP that went wrong, replayed. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  connectTo,
  error,
  eventStream,
  httpPeer,
  initialized,
  json,
  legacyPeer,
  result,
  type HttpPeer,
  type ScriptedRequest,
} from '../client/peers.ts'

const legacy = { revision: '2025-11-25' } as const
const content = [{ type: 'text', text: 'x' }]

afterEach(() => {
  vi.useRealTimers()
})

/** A server with sessions that answers some requests in its own way. */
function scripted(answer: (request: ScriptedRequest) => Response | undefined): HttpPeer {
  const peer = legacyPeer((request) => result(request, { content }))
  return httpPeer((request) => answer(request) ?? peer.fetch(request.url, requestOf(request)))
}

const requestOf = ({ method, headers, message }: ScriptedRequest): RequestInit => ({
  method,
  headers,
  ...(method === 'POST' && { body: JSON.stringify(message) }),
})

const gets = (peer: HttpPeer): ScriptedRequest[] =>
  peer.requests.filter(({ method }) => method === 'GET')

describe('an event without data', () => {
  it.each(['data:\n', 'data: \n', ''])(
    'may come before any answer, and on the stream of the session: %j [B011]',
    async (data) => {
      const problems: Error[] = []
      const streams: { cancelled: boolean }[] = []
      const primed = (body?: unknown): Response => {
        const stream = eventStream({ 'mcp-session-id': 's1' })
        stream.write(`id: p1\nretry: 500\n${data}\n`)
        if (body !== undefined) stream.event(body)
        streams.push(stream)
        return stream.response
      }
      const answers: Record<string, unknown> = {
        initialize: initialized(),
        'tools/call': { content },
      }
      const peer = scripted(({ method, message }) => {
        if (method === 'GET') return primed()
        const body = answers[message.method ?? '']
        return body ? primed({ jsonrpc: '2.0', id: message.id, result: body }) : undefined
      })
      const client = await connectTo(peer, {
        ...legacy,
        onToolsChanged() {},
        onError: (problem) => problems.push(problem),
      })
      expect(await client.callTool('a')).toEqual({ content })
      await client.close()
      expect(problems).toEqual([])
      expect(streams).toHaveLength(3)
    },
  )
})

describe('the time after which a stream is resumed', () => {
  it.each([
    ['1500', 1_500],
    ['5x', 1_000],
    ['0', 50],
    ['86400000', 86_400_000],
  ])('is the message of the server: %s [B015]', async (retry, delayMs) => {
    vi.useFakeTimers()
    const stream = eventStream()
    stream.write(`id: ok1\ndata:\n\nid: a\0b\nretry: ${retry}\ndata:\n\n`)
    stream.end()
    const peer = scripted(({ method, message }) => {
      if (method === 'GET') {
        const resumed = eventStream()
        resumed.event({ jsonrpc: '2.0', id: 2, result: { content } })
        return resumed.response
      }
      return message.method === 'tools/call' ? stream.response : undefined
    })
    const client = await connectTo(peer, legacy)
    const patient = { timeoutMs: 1e9, maxTimeoutMs: 1e9 }
    const answer = client.callTool('a', {}, patient)
    await vi.advanceTimersByTimeAsync(delayMs - 1)
    expect(gets(peer)).toHaveLength(0)
    // At most a quarter is added, so that clients do not reconnect all at once
    await vi.advanceTimersByTimeAsync(delayMs / 4 + 1)
    expect(await answer).toEqual({ content })
    expect(gets(peer).map(({ headers }) => headers.get('last-event-id'))).toEqual(['ok1'])
    const posts = peer.requests.filter(({ method }) => method === 'POST')
    expect(posts.some(({ headers }) => headers.has('last-event-id'))).toBe(false)
    await client.close()
  })

  it.each(['2147483648', '99999999999999999999', '9'.repeat(400)])(
    'is not at once because no timer is that long: %s [B015]',
    async (retry) => {
      vi.useFakeTimers()
      const peer = scripted(({ method }) => {
        if (method !== 'GET') return undefined
        const stream = eventStream()
        stream.write(`id: 1\nretry: ${retry}\ndata:\n\n`)
        stream.end()
        return stream.response
      })
      const client = await connectTo(peer, { ...legacy, onToolsChanged() {} })
      await vi.advanceTimersByTimeAsync(60_000)
      expect(gets(peer)).toHaveLength(1)
      await client.close()
    },
  )
})

describe('the stream of the session', () => {
  it('may be 404 although the session is there: calls continue, and sessions are not opened forever [B023]', async () => {
    vi.useFakeTimers()
    const problems: Error[] = []
    const peer = scripted(({ method }) =>
      method === 'GET' ? new Response(null, { status: 404 }) : undefined,
    )
    const client = await connectTo(peer, {
      ...legacy,
      onToolsChanged() {},
      onError: (problem) => problems.push(problem),
    })
    await vi.advanceTimersByTimeAsync(600_000)
    expect(await client.callTool('a')).toEqual({ content })
    expect(peer.received('initialize').length).toBeLessThanOrEqual(2)
    expect(gets(peer).length).toBeLessThanOrEqual(2)
    expect(problems.length).toBeLessThanOrEqual(1)
    await client.close()
  })
})

describe('the fallback to the transport of 2024-11-05', () => {
  it.each([400, 404, 405])(
    'that fails too reports status and message of the first response: %i [B037]',
    async (status) => {
      const peer = httpPeer((request) =>
        request.method === 'GET'
          ? new Response(null, { status: 405 })
          : error(request, -32000, status, { hint: 'use /mcp' }),
      )
      await expect(connectTo(peer, legacy)).rejects.toMatchObject({
        code: 'HTTP',
        message: expect.stringContaining('error -32000') as string,
        data: { status, error: { code: -32000, data: { hint: 'use /mcp' } } },
      })
      expect(gets(peer)).toHaveLength(1)
    },
  )
})

describe('an answer that never comes', () => {
  it('rejects at once and leaves nothing waiting, in either era [B025]', async () => {
    for (const revision of ['2025-11-25', '2026-07-28'] as const) {
      for (const answer of [
        () => new Response('', { headers: { 'content-type': 'application/json' } }),
        () => json([]),
        () => {
          const stream = eventStream()
          stream.write('event: ping\ndata: {}\n\n')
          stream.end()
          return stream.response
        },
      ]) {
        const peer = httpPeer((request) => {
          const { method } = request.message
          if (method === 'server/discover') {
            const supportedVersions = ['2026-07-28']
            return result(request, { supportedVersions, capabilities: { tools: {} } })
          }
          if (method === 'initialize') return result(request, initialized())
          return request.message.id === undefined ? new Response(null, { status: 202 }) : answer()
        })
        const client = await connectTo(peer, { revision })
        const asked = client.callTool('a')
        await expect(asked).rejects.toMatchObject({
          code: 'NETWORK',
          message: expect.stringContaining('tools/call') as string,
        })
        await client.close()
      }
    }
  })
})
