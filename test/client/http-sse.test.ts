import { describe, expect, test } from 'vitest'
import {
  connectTo,
  eventStream,
  httpPeer,
  initialized,
  until,
  type EventStream,
  type HttpPeer,
} from './peers.ts'

const content = [{ type: 'text', text: 'hi' }]
const endpoint = 'https://peer.example/sse'

/** A server of 2024-11-05 with the given endpoint. */
function oldPeer(
  where: string,
  to = 'https://peer.example/post?s=1',
): { peer: HttpPeer; stream: EventStream } {
  const stream = eventStream()
  const peer = httpPeer((request) => {
    if (request.method === 'GET') {
      stream.write(`event: endpoint\ndata: ${where}\n\n`)
      return stream.response
    }
    if (request.url !== to) return new Response(null, { status: 404 })
    const { id, method } = request.message
    const body = method === 'initialize' ? initialized('2024-11-05') : { content }
    if (id !== undefined && method) stream.event({ jsonrpc: '2.0', id, result: body })
    return new Response('Accepted', { status: 202 })
  })
  return { peer, stream }
}

/** With a cache that knows the endpoint. */
const options = {
  get versionCache(): Map<string, string> {
    return new Map([['https://peer.example/mcp', 'http-sse']])
  },
}

describe('HTTP+SSE', () => {
  test.each(['/post?s=1', 'post?s=1', endpoint.replace('sse', 'post?s=1')])(
    'posts to the endpoint "%s", and receives responses on the stream [L-SSE-003] [L-SSE-004] [L-SSE-012] [L-SSE-013]',
    async (where) => {
      const { peer } = oldPeer(where)
      const client = await connectTo(peer, options)
      expect(client.revision).toBe('2024-11-05')
      expect(await client.callTool('a')).toEqual({ content })
      const posts = peer.requests.filter((request) => request.method === 'POST')
      expect(posts.map((request) => request.url)).toEqual(
        Array(3).fill('https://peer.example/post?s=1'),
      )
      expect(
        posts.every((request) => request.headers.get('content-type') === 'application/json'),
      ).toBe(true)
      await client.close()
    },
  )

  test.each([
    'https://evil.example/post',
    'http://peer.example/post',
    '//evil.example/post',
    'https://peer.example:444/',
  ])('refuses the endpoint "%s" on another origin [L-SSE-009]', async (where) => {
    const { peer, stream } = oldPeer(where)
    await expect(connectTo(peer, options)).rejects.toMatchObject({ code: 'HTTP' })
    expect(peer.requests.every((request) => request.url === 'https://peer.example/mcp')).toBe(true)
    await until(() => stream.cancelled)
  })

  test('ends with its stream, and pending requests fail [L-SSE-011] [L-HTTP-071]', async () => {
    const { peer, stream } = oldPeer('/post?s=1')
    const client = await connectTo(peer, options)
    await client.callTool('a')
    stream.end()
    await until(() => stream.response.bodyUsed)
    await expect(client.callTool('a')).rejects.toMatchObject({ code: 'CLOSED' })
    await client.close()
  })

  test('closes its stream when the client closes', async () => {
    const { peer, stream } = oldPeer('/post?s=1')
    await (await connectTo(peer, options)).close()
    await until(() => stream.cancelled)
  })

  test('answers requests of the server', async () => {
    const { peer, stream } = oldPeer('/post?s=1')
    const client = await connectTo(peer, { ...options, roots: [{ uri: 'file:///a' }] })
    stream.event({ jsonrpc: '2.0', id: 'r', method: 'roots/list' })
    await until(() => peer.requests.at(-1)?.message.id === 'r')
    expect(peer.requests.at(-1)?.message.result).toEqual({ roots: [{ uri: 'file:///a' }] })
    await client.close()
  })

  test('ignores events that are not messages', async () => {
    const problems: Error[] = []
    const { peer, stream } = oldPeer('/post?s=1')
    const client = await connectTo(peer, { ...options, onError: (e) => problems.push(e) })
    stream.write('data: {no\n\nevent: other\ndata: x\n\n: hi\n\n')
    expect(await client.callTool('a')).toEqual({ content })
    expect(problems).toHaveLength(1)
    await client.close()
  })

  test.each<[string, () => Response]>([
    ['no stream', () => new Response('hi')],
    ['an error', () => new Response('no', { status: 500 })],
    [
      'a stream that ends first',
      () => {
        const stream = eventStream()
        stream.end()
        return stream.response
      },
    ],
  ])('fails without an endpoint, if the stream has %s instead', async (_, answer) => {
    const peer = httpPeer(answer)
    await expect(connectTo(peer, options)).rejects.toMatchObject({
      code: expect.stringMatching(/HTTP|NETWORK/) as string,
    })
  })

  test('that names no endpoint in time fails', async () => {
    const stream = eventStream()
    const peer = httpPeer(() => stream.response)
    await expect(connectTo(peer, { ...options, timeoutMs: 20 })).rejects.toBeInstanceOf(Error)
    await until(() => stream.cancelled)
  })
})
