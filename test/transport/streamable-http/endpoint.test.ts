// A handler at its path, as Node, Deno and Bun serve it.
import { describe, expect, it } from 'vitest'
import { aiCatalog, cardHandler, serverCard } from '../../../src/cards/index.ts'
import { authenticate, createServer, statefulSessions } from '../../../src/presets/server.ts'
import { createEndpoint } from '../../../src/transport/streamable-http/endpoint.ts'
import { initializeRequest, modernHeaders, modernRequest } from './post.ts'

describe.each(['/mcp', '/v1.0/mcp/', '/a+b', '/tools(all)', '/'])('The path %s', (path) => {
  const { fetch } = createEndpoint(createServer({ name: 's', version: '1' }), { path })
  const post = (to: string): Promise<Response> =>
    fetch(
      new Request(`http://127.0.0.1${to}`, {
        method: 'POST',
        headers: {
          ...modernHeaders('server/discover'),
          accept: 'application/json, text/event-stream',
          'content-type': 'application/json',
        },
        body: JSON.stringify(modernRequest('server/discover')),
      }),
    )

  it('reaches the server, with a slash at its end or a query too', async () => {
    for (const to of [path, `${path}/`, `${path}?a=1`]) expect((await post(to)).status).toBe(200)
  })

  it('is the only one that does', async () => {
    for (const to of ['/other', '/aab', '/v1x0/mcp', '/toolsall', `${path}/more`]) {
      expect((await post(to)).status, to).toBe(404)
    }
  })
})

describe('An endpoint with a card', () => {
  const server = createServer({ name: 's', version: '1.0.0', description: 'Serves.' })
  const card = serverCard(server, { name: 'com.example/s', remotes: ['https://s.example.com/mcp'] })
  const { fetch } = createEndpoint(server, {
    auth: authenticate(() => new Response('Who are you?', { status: 401 })),
    card: cardHandler(card, { catalog: aiCatalog([card]) }),
  })
  const get = (path: string, init?: RequestInit): Promise<Response> =>
    fetch(new Request(`http://s.example.com${path}`, init))

  it('serves it to everyone, whatever host and origin the request names [E-CARD-058] [E-CARD-059] [E-CARD-073]', async () => {
    const headers = { origin: 'https://evil.example' }
    expect(await (await get('/mcp/server-card', { headers })).json()).toEqual(card)
    const catalog = await get('/.well-known/ai-catalog.json', { headers })
    expect(await catalog.json()).toEqual(aiCatalog([card]))
  })

  it('still protects the endpoint, and has no other paths', async () => {
    expect((await get('/mcp', { method: 'POST' })).status).not.toBe(200)
    expect((await get('/server-card', { headers: { host: 'localhost' } })).status).not.toBe(200)
  })

  it('passes the caller behind a proxy to the limiter of the card and the catalog [E-CARD-071]', async () => {
    const counts = new Map<string, number>()
    const limited = createEndpoint(server, {
      trustProxy: 1,
      card: cardHandler(card, {
        catalog: aiCatalog([card]),
        allow(_request, { address = '' }) {
          counts.set(address, (counts.get(address) ?? 0) + 1)
          return counts.get(address)! <= 2
        },
      }),
    })
    const statusFor = async (address: string, path: string): Promise<number> => {
      const headers = { 'x-forwarded-for': `198.51.100.1, ${address}` }
      const request = new Request(`http://s.example.com${path}`, { headers })
      return (await limited.fetch(request, { address: '127.0.0.1' })).status
    }
    const paths = ['/mcp/server-card', '/.well-known/ai-catalog.json', '/mcp/server-card']
    for (const address of ['192.0.2.1', '192.0.2.2']) {
      const statuses: number[] = []
      for (const path of paths) statuses.push(await statusFor(address, path))
      expect(statuses).toEqual([200, 200, 429])
    }
  })

  it('rejects requests for a card that it does not have', async () => {
    const without = createEndpoint(server, {})
    const response = await without.fetch(new Request('http://127.0.0.1/mcp/server-card'))
    expect(response.status).toBe(404)
  })
})

describe('The address of a caller', () => {
  /** Which of three sessions are left, each opened with a header, when an address may have one. */
  async function openSessions(trustProxy: number | undefined, forwarded: (string | undefined)[]) {
    const { fetch } = createEndpoint(createServer({ name: 's', version: '1' }), {
      sessions: statefulSessions({ maxSessionsPerCaller: 1 }),
      ...(trustProxy !== undefined && { trustProxy }),
    })
    const send = (message: unknown, headers: Record<string, string>): Promise<Response> => {
      const all = {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      }
      const init = {
        method: 'POST',
        headers: { ...all, ...headers },
        body: JSON.stringify(message),
      }
      return fetch(new Request('http://127.0.0.1/mcp', init), { address: '10.0.0.1' })
    }
    const ids: string[] = []
    for (const addresses of forwarded) {
      const headers = addresses === undefined ? {} : { 'x-forwarded-for': addresses }
      const opened = await send(initializeRequest('2025-06-18'), headers)
      ids.push(opened.headers.get('mcp-session-id') ?? '')
    }
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
    const answers = await Promise.all(ids.map((id) => send(ping, { 'mcp-session-id': id })))
    return answers.map(({ status }) => status === 200)
  }

  it.each([
    ['is that of the connection by default', undefined, ['192.0.2.1', '192.0.2.2'], [false, true]],
    ['is what the one proxy appended', 1, ['1.1.1.1, 192.0.2.1', '192.0.2.2'], [true, true]],
    [
      'is not what the client sent',
      1,
      ['192.0.2.1, 192.0.2.9', '192.0.2.2,192.0.2.9'],
      [false, true],
    ],
    [
      'is what the first of two proxies appended',
      2,
      ['x, 192.0.2.1, 10.1.1.1', '192.0.2.1,10.2.2.2'],
      [false, true],
    ],
    ['is the only one if a proxy is missing', 2, ['192.0.2.1', '192.0.2.2'], [true, true]],
    ['does not include a port', 1, ['192.0.2.1:1234', '192.0.2.1:4321'], [false, true]],
    ['may be of IPv6', 1, ['[2001:db8::1]:1234', '2001:db8::1'], [false, true]],
    ['is that of the connection without the header', 1, [undefined, undefined], [false, true]],
  ])('%s', async (_what, trustProxy, forwarded, left) => {
    expect(await openSessions(trustProxy, forwarded)).toEqual(left)
  })

  it.each([-1, 1.5, NaN, true as unknown as number])(
    'cannot be behind %s proxies',
    (trustProxy) => {
      const server = createServer({ name: 's', version: '1' })
      expect(() => createEndpoint(server, { trustProxy })).toThrow(
        new RangeError(`"trustProxy" must be a number of proxies, not "${trustProxy}"`),
      )
    },
  )
})
