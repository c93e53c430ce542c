// A handler at its path, as Node, Deno and Bun serve it.
import { describe, expect, it } from 'vitest'
import { aiCatalog, cardHandler, serverCard } from '../../../src/cards/index.ts'
import { authenticate, createServer } from '../../../src/presets/server.ts'
import { createEndpoint } from '../../../src/transport/streamable-http/endpoint.ts'
import { modernHeaders, modernRequest } from './post.ts'

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

  it('rejects requests for a card that it does not have', async () => {
    const without = createEndpoint(server, {})
    const response = await without.fetch(new Request('http://127.0.0.1/mcp/server-card'))
    expect(response.status).toBe(404)
  })
})
