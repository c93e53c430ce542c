import { describe, expect, it, vi } from 'vitest'
import { aiCatalog, cardHandler, serverCard } from '../../src/cards/index.ts'
import type { ServerCard } from '../../src/cards/types.ts'
import type { CardHandlerOptions } from '../../src/cards/card-handler.ts'
import { authenticate, createHandler, createServer } from '../../src/presets/server.ts'
import { cardOf } from './site.ts'

const CARD_PATH = '/mcp/server-card'
const CATALOG_PATH = '/.well-known/ai-catalog.json'
const DOCUMENTS = [CARD_PATH, CATALOG_PATH]
const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET',
  'access-control-allow-headers': 'Content-Type, If-None-Match',
  'access-control-expose-headers': 'ETag',
}

type Ask = (path: string, init?: RequestInit & { host?: string }) => Promise<Response>

/** Serves a card and its catalog in front of a protected server. */
function serveCards(options: CardHandlerOptions = {}, card: ServerCard = cardOf()): Ask {
  const server = createServer({ name: 'weather', version: '1.0.0' })
  const auth = authenticate(() => new Response('Who are you?', { status: 401 }))
  const handle = createHandler(server, { auth })
  const cards = cardHandler(card, { catalog: aiCatalog([card]), ...options })
  return async (path, { host = 'weather.example.com', ...init } = {}) => {
    const request = new Request(`https://${host}${path}`, init)
    return (await cards(request)) ?? handle(request)
  }
}

function headersOf(response: Response): Record<string, string> {
  return Object.fromEntries(response.headers)
}

describe('The handler of cards', () => {
  it('serves the card below its endpoint as JSON without a byte-order mark [E-CARD-001] [E-CARD-049] [E-CARD-053]', async () => {
    const ask = serveCards()
    const response = await ask(CARD_PATH)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/mcp-server-card+json')
    const bytes = new Uint8Array(await response.arrayBuffer())
    expect(bytes[0]).toBe('{'.charCodeAt(0))
    expect(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))).toEqual(cardOf())
    expect((await ask('/mcp')).status).toBe(401)
  })

  it('serves a catalog if it has one [E-CARD-122] [E-CARD-123]', async () => {
    const response = await serveCards()(CATALOG_PATH)
    expect(response.headers.get('content-type')).toBe('application/ai-catalog+json')
    expect(await response.json()).toEqual(aiCatalog([cardOf()]))
    const cards = cardHandler(cardOf())
    expect(cards(new Request(`https://h.example${CATALOG_PATH}`))).toBeUndefined()
    expect(cards.paths).toEqual([CARD_PATH])
  })

  it.each([
    ['https://h.example/mcp', '/mcp/server-card'],
    ['https://h.example/mcp/', '/mcp/server-card'],
    ['https://h.example/mcp?x=1#y', '/mcp/server-card'],
    ['https://h.example/', '/server-card'],
  ])('derives the path of the card from %s [E-CARD-050]', (url, path) => {
    const remotes: ServerCard['remotes'] = [{ type: 'streamable-http', url }]
    expect(cardHandler(cardOf('weather', { remotes })).paths).toEqual([path])
  })

  it('serves the card at other paths, but not at that of its endpoint [E-CARD-049] [E-CARD-051]', async () => {
    const ask = serveCards({ paths: ['/about/card'] })
    expect((await ask('/about/card')).status).toBe(200)
    expect((await ask(CARD_PATH)).status).toBe(401)
    for (const path of ['/mcp', 'card', '']) {
      expect(() => serveCards({ paths: [path] })).toThrow(`The card cannot be at "${path}"`)
    }
    const remotes: ServerCard['remotes'] = [
      { type: 'streamable-http', url: 'https://{a}.b.example/mcp' },
    ]
    const card = cardOf('weather', { remotes })
    expect(() => cardHandler(card)).toThrow('set "paths"')
    expect(() => cardHandler(card, { paths: ['/mcp'] })).toThrow('set "paths"')
    expect(() => cardHandler(cardOf('weather', { remotes: [] }))).toThrow('set "paths"')
  })

  it('serves the card where earlier drafts placed it only if asked to [E-CARD-052]', async () => {
    const older = ['/.well-known/mcp/server-card.json', '/.well-known/mcp-server-card']
    const ask = serveCards({ paths: [CARD_PATH, ...older] })
    for (const path of [CARD_PATH, ...older]) expect((await ask(path)).status).toBe(200)
    for (const path of older) expect((await serveCards()(path)).status).toBe(401)
  })

  it('ignores the header Accept [E-CARD-054]', async () => {
    const ask = serveCards()
    for (const accept of [
      '*/*',
      'application/json',
      'text/html',
      'application/mcp-server-card+json',
    ]) {
      const response = await ask(CARD_PATH, { headers: { accept } })
      expect([response.status, response.headers.get('content-type')]).toEqual([
        200,
        'application/mcp-server-card+json',
      ])
    }
  })

  it('needs no token and no allowed origin [E-CARD-058] [E-CARD-059]', async () => {
    const ask = serveCards()
    for (const path of DOCUMENTS) {
      const response = await ask(path, { headers: { origin: 'https://other.example' } })
      expect(response.status).toBe(200)
      expect(response.headers.has('www-authenticate')).toBe(false)
    }
  })

  it.each(DOCUMENTS)(
    'lets pages of every origin read %s [E-CARD-060] [E-CARD-061] [E-CARD-131]',
    async (path) => {
      const ask = serveCards()
      const first = await ask(path)
      const etag = first.headers.get('etag') ?? ''
      const preflight = { 'access-control-request-method': 'GET' }
      const responses = [
        first,
        await ask(path, { headers: { 'if-none-match': etag } }),
        await ask(path, { method: 'OPTIONS' }),
        await ask(path, { method: 'OPTIONS', headers: preflight }),
      ]
      for (const response of responses) expect(headersOf(response)).toMatchObject(CORS)
      expect(responses.map(({ status }) => status)).toEqual([200, 304, 204, 204])
      for (const response of responses.slice(1)) expect(await response.text()).toBe('')
    },
  )

  it.each(DOCUMENTS)(
    'answers HEAD like GET, and no method that writes, at %s [E-CARD-062]',
    async (path) => {
      const ask = serveCards()
      const [get, head] = [await ask(path), await ask(path, { method: 'HEAD' })]
      expect(head.status).toBe(200)
      expect(headersOf(head)).toEqual(headersOf(get))
      expect(await head.text()).toBe('')
      for (const method of ['POST', 'PUT', 'DELETE']) {
        const response = await ask(path, { method })
        expect([response.status, response.headers.get('allow')]).toEqual([
          405,
          'GET, HEAD, OPTIONS',
        ])
      }
    },
  )

  it.each(DOCUMENTS)(
    'lets %s be cached for an hour, or as its author says [E-CARD-063] [E-CARD-131]',
    async (path) => {
      const cacheControl = async (options: CardHandlerOptions): Promise<unknown> =>
        (await serveCards(options)(path)).headers.get('cache-control')
      expect(await cacheControl({})).toBe('public, max-age=3600')
      expect(await cacheControl({ cacheControl: 'no-cache' })).toBe('no-cache')
      expect(await cacheControl({ cacheControl: '' })).toBeNull()
    },
  )

  it('has the same strong tag for the same document on several instances [E-CARD-064]', async () => {
    const tagOf = async (ask: Ask): Promise<string | null> =>
      (await ask(CARD_PATH)).headers.get('etag')
    const tag = await tagOf(serveCards())
    expect(tag).toMatch(/^"[\w-]{43}"$/)
    expect(await tagOf(serveCards())).toBe(tag)
    expect(await tagOf(serveCards({}, cardOf('weather', { version: '2.0.0' })))).not.toBe(tag)
  })

  it.each(DOCUMENTS)(
    'answers 304 if the client has %s already [E-CARD-065] [E-CARD-131]',
    async (path) => {
      const ask = serveCards()
      const tag = (await ask(path)).headers.get('etag') ?? ''
      for (const known of [tag, `W/${tag}`, `"other", W/${tag}`, '*']) {
        const response = await ask(path, { headers: { 'if-none-match': known } })
        expect([response.status, response.headers.get('etag')]).toEqual([304, tag])
        expect(await response.text()).toBe('')
      }
      const changed = await ask(path, { headers: { 'if-none-match': '"other"' } })
      expect(changed.status).toBe(200)
    },
  )

  it('asks the author’s limiter, and answers 429 beyond it [E-CARD-071]', async () => {
    const addresses: unknown[] = []
    let remaining = 2
    const cards = cardHandler(cardOf(), {
      allow: async (_request, { address }) => {
        addresses.push(address)
        return remaining-- > 0
      },
    })
    const statuses: unknown[] = []
    for (let count = 0; count < 3; count++) {
      const request = new Request(`https://h.example${CARD_PATH}`)
      const response = await cards(request, { address: '192.0.2.7' })
      statuses.push(response?.status)
      if (response) expect(headersOf(response)).toMatchObject(CORS)
    }
    expect(statuses).toEqual([200, 200, 429])
    expect(addresses).toEqual(Array.from({ length: 3 }, () => '192.0.2.7'))
  })

  it('serializes a card once, not for each request [E-CARD-072]', async () => {
    const toJSON = vi.fn(() => cardOf())
    const cards = cardHandler({ ...cardOf(), toJSON } as ServerCard)
    for (let count = 0; count < 100; count++) {
      await cards(new Request(`https://h.example${CARD_PATH}`))
    }
    expect(toJSON).toHaveBeenCalledTimes(1)
  })

  it('names the addresses that the author set, whatever the request says [E-CARD-073]', async () => {
    const ask = serveCards()
    for (const path of DOCUMENTS) {
      const headers = { 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' }
      const text = await (await ask(path, { host: 'evil.example', headers })).text()
      expect(text).toContain('https://weather.example.com/mcp')
      expect(text).not.toContain('evil')
    }
  })

  it('rejects unknown options', () => {
    expect(() => cardHandler(cardOf(), { path: '/x' } as object)).toThrow('has no option "path"')
  })
})

describe('A server with a card', () => {
  it('does not declare the extension, which is not negotiated [E-CARD-142]', async () => {
    const server = createServer({ name: 'weather', version: '1.0.0', description: 'Tells it.' })
    cardHandler(serverCard(server, { name: 'a.b/c', remotes: ['https://h.example.com/mcp'] }))
    const handle = createHandler(server)
    const response = await handle(discoverRequest())
    expect(response.status).toBe(200)
    expect(await response.text()).not.toContain('server-card')
  })
})

function discoverRequest(): Request {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  return new Request('https://h.example/mcp', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'server/discover',
    },
    body: JSON.stringify({
      ...{ jsonrpc: '2.0', id: 1, method: 'server/discover', params: { _meta: meta } },
    }),
  })
}
