import { describe, expect, it, vi } from 'vitest'
import { cardCache, discover } from '../../src/cards/index.ts'
import type { DiscoverOptions, Discovery } from '../../src/cards/discover.ts'
import { CATALOG_TYPE } from '../../src/cards/types.ts'
import { createServer } from '../../src/presets/server.ts'
import { connect } from '../../src/presets/client.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import { createHandler } from '../../src/presets/server.ts'
import { cardOf, catalogOf, entryOf, json, redirect, sites, type Sites } from './site.ts'

const CATALOG = 'https://example.com/.well-known/ai-catalog.json'
const at = (name: string): string => `https://example.com/${name}`
const nested = (url: string, more: object = {}): object =>
  entryOf(url, { type: CATALOG_TYPE, ...more })

/** Discovers the servers of example.com. */
function find(
  pages: Parameters<typeof sites>[0],
  options: DiscoverOptions = {},
): Promise<Discovery> {
  return discover('example.com', { fetch: sites(pages).fetch, ...options })
}

/** Discovers the servers of a catalog with these entries, whose cards are at the given names. */
function list(entries: readonly unknown[], ...cards: string[]): Promise<Discovery> {
  const pages = cards.map((name) => [at(name), cardOf(name)])
  return find({ [CATALOG]: catalogOf(...entries), ...Object.fromEntries(pages) })
}

const names = ({ cards }: Discovery): string[] => cards.map(({ card }) => card.name.slice(12))
const steps = ({ failures }: Discovery): unknown[] =>
  failures.map(({ error }) => (error.data as { step?: unknown } | undefined)?.step)

describe('The discovery of servers', () => {
  it.each(['example.com', 'https://example.com', 'https://example.com/a/b?c', new URL(at('x'))])(
    'reads the catalog of the domain for %s [E-CARD-092]',
    async (target) => {
      const { fetch, addresses, requests } = sites({ [CATALOG]: catalogOf() })
      expect(await discover(target, { fetch })).toEqual({ cards: [], failures: [] })
      expect(addresses()).toEqual([CATALOG])
      expect(requests[0]?.headers.get('accept')).toBe(`${CATALOG_TYPE}, application/json;q=0.5`)
    },
  )

  it('fetches the cards that the catalog names, and reads those that it contains [E-CARD-103] [E-CARD-106]', async () => {
    const catalog = catalogOf(
      entryOf(at('a')),
      { identifier: 'b', type: 'application/mcp-server-card+json', data: cardOf('b') },
      {
        identifier: 'c',
        type: 'application/mcp-server-card+json',
        data: { ...cardOf('c'), name: '<img onerror=x>' },
      },
      { identifier: 'd', type: 'application/mcp-server-card+json', data: null },
    )
    const { fetch, addresses } = sites({ [CATALOG]: catalog, [at('a')]: cardOf('a') })
    const found = await discover('example.com', { fetch })
    expect(names(found)).toEqual(['a', 'b'])
    expect(steps(found)).toEqual(['card', 'card'])
    expect(addresses()).toEqual([CATALOG, at('a')])
  })

  it('passes over other documents, and ignores unknown members [E-CARD-098] [E-CARD-099] [E-CARD-100]', async () => {
    const entries = [
      { identifier: 'x', type: 'application/a2a-agent-card+json', url: '/relative', data: 1 },
      entryOf(at('a'), { future: 1, extensions: { 'a.b': { future: 2 }, 'not a key': 3 } }),
    ]
    for (const additionalSignatures of [5, [1], { a: 1 }]) {
      const host = { displayName: 'Example', future: 3 }
      const catalog = {
        ...catalogOf(...entries),
        host,
        extensions: { x: 1 },
        future: 4,
        additionalSignatures,
      }
      const found = await find({ [CATALOG]: catalog, [at('a')]: cardOf('a') })
      expect([names(found), found.failures]).toEqual([['a'], []])
    }
  })

  it('reports entries that it cannot read, and returns the others [E-CARD-101] [E-CARD-102] [E-CARD-105]', async () => {
    const found = await find({
      [CATALOG]: catalogOf(
        entryOf(at('missing')),
        entryOf(at('broken')),
        entryOf('/card'),
        { identifier: 'neither', type: 'application/mcp-server-card+json' },
        { ...entryOf(at('a')), identifier: 'both', data: cardOf() },
        'text',
        { type: 'application/mcp-server-card+json', url: at('a') },
        entryOf(at('a')),
      ),
      [at('broken')]: () => new Response('{', { headers: { 'content-type': 'application/json' } }),
      [at('a')]: cardOf('a'),
    })
    expect(names(found)).toEqual(['a'])
    const failures = found.failures.map(({ identifier, error }) => [identifier, error.code])
    expect(failures.sort()).toEqual(
      [
        [undefined, 'INVALID_MESSAGE'],
        [undefined, 'INVALID_MESSAGE'],
        ['both', 'INVALID_MESSAGE'],
        ['neither', 'INVALID_MESSAGE'],
        ['urn:air:example.com:mcp:/card', 'INVALID_MESSAGE'],
        [`urn:air:example.com:mcp:${at('broken')}`, 'INVALID_MESSAGE'],
        [`urn:air:example.com:mcp:${at('missing')}`, 'HTTP'],
      ].sort(),
    )
    expect(new Set(steps(found))).toEqual(new Set(['status', 'json', 'entry']))
  })

  it('finds nothing at a domain without a catalog, and looks nowhere else [E-CARD-118] [E-CARD-119]', async () => {
    for (const status of [404, 410]) {
      const { fetch, requests } = sites({ [CATALOG]: () => new Response(null, { status }) })
      expect(await discover('example.com', { fetch })).toEqual({ cards: [], failures: [] })
      expect(requests).toHaveLength(1)
    }
    const failing = find({ [CATALOG]: () => new Response(null, { status: 500 }) })
    await expect(failing).rejects.toMatchObject({ code: 'HTTP', data: { status: 500 } })
  })

  it('looks where earlier drafts placed cards and catalogs if asked to [E-CARD-119]', async () => {
    const options = { olderPaths: true }
    const card = await find({ [at('.well-known/mcp-server-card')]: cardOf('a') }, options)
    expect(names(card)).toEqual(['a'])
    const entry = {
      identifier: 'urn:mcp:server:b',
      mediaType: 'application/mcp-server-card+json',
      url: at('b'),
    }
    const pages = { [at('.well-known/mcp/catalog.json')]: catalogOf(entry), [at('b')]: cardOf('b') }
    expect(names(await find(pages, options))).toEqual(['b'])
    expect(await find({}, options)).toEqual({ cards: [], failures: [] })
  })

  it('only returns data: it connects to nothing and stores nothing [E-CARD-089]', async () => {
    const { fetch, addresses } = sites({
      [CATALOG]: catalogOf(entryOf(at('a'))),
      [at('a')]: cardOf('a'),
    })
    const { cards } = await discover('example.com', { fetch })
    expect(addresses()).toEqual([CATALOG, at('a')])
    expect(structuredClone(cards)).toEqual(cards)
    expect(JSON.stringify(cards)).not.toMatch(/function/)
  })

  it('rejects what is not a domain, and unknown options', async () => {
    await expect(discover('not a domain')).rejects.toMatchObject({ code: 'DENIED' })
    await expect(discover('example.com', { depth: 9 } as object)).rejects.toThrow(
      'no option "depth"',
    )
  })

  it('ends when the application aborts', async () => {
    const controller = new AbortController()
    const { signal } = controller
    const pages = {
      [CATALOG]: catalogOf(entryOf(at('a'))),
      [at('a')]: () => (controller.abort(), new Promise<Response>(() => {})),
    }
    await expect(find(pages, { signal })).rejects.toMatchObject({ code: 'ABORTED' })
  })
})

describe('A catalog that is read', () => {
  it('has a type of JSON [E-CARD-095]', async () => {
    const typed = (type: string) => ({
      [CATALOG]: () => json(catalogOf(), { 'content-type': type }),
    })
    for (const type of [CATALOG_TYPE, 'application/json; charset=utf-8']) {
      await expect(find(typed(type))).resolves.toBeDefined()
    }
    await expect(find(typed('text/html'))).rejects.toMatchObject({ data: { step: 'type' } })
  })

  it.each([
    [{ entries: [] }, '"specVersion" must be'],
    [{ specVersion: 1, entries: [] }, '"specVersion" must be'],
    [{ specVersion: '1', entries: [] }, '"specVersion" must be'],
    [{ specVersion: '1.0' }, '"entries" must be a list'],
    [{ specVersion: '2.0', entries: [] }, 'version 2.0 is not supported, only 1.x'],
  ])('is refused if it is %o [E-CARD-096] [E-CARD-097]', async (catalog, message) => {
    const page = (): Response => json(catalog, { 'content-type': CATALOG_TYPE })
    await expect(find({ [CATALOG]: page })).rejects.toThrow(message)
  })

  it('may have a later minor version [E-CARD-096] [E-CARD-097]', async () => {
    const catalog = { specVersion: '1.7', entries: [entryOf(at('a'))] }
    expect(names(await find({ [CATALOG]: catalog, [at('a')]: cardOf('a') }))).toEqual(['a'])
  })

  it('is followed to catalogs in it to a depth of four [E-CARD-107]', async () => {
    const level = (depth: number): object =>
      catalogOf(entryOf(at(`card${depth}`)), nested(at(`level${depth + 1}`)))
    const levels = [2, 3, 4, 5].map((depth) => [at(`level${depth}`), level(depth)])
    const cards = [1, 2, 3, 4, 5].map((depth) => [at(`card${depth}`), cardOf(`card${depth}`)])
    const found = await find({ [CATALOG]: level(1), ...Object.fromEntries([...levels, ...cards]) })
    expect(names(found)).toEqual(['card1', 'card2', 'card3', 'card4'])
    expect(found.failures.map(({ error }) => error.message)).toEqual([
      expect.stringContaining('depth'),
    ])
  })

  it('is not fetched twice when catalogs name each other [E-CARD-108]', async () => {
    const { fetch, addresses } = sites({
      [CATALOG]: catalogOf(nested(at('b'))),
      [at('b')]: catalogOf(nested(`${CATALOG}`), nested(at('b')), entryOf(at('a'))),
      [at('a')]: cardOf('a'),
    })
    expect(names(await discover('example.com', { fetch }))).toEqual(['a'])
    expect(addresses()).toEqual([CATALOG, at('b'), at('a')])
  })

  it('is read up to 100 cards, and all catalogs up to 500 cards [E-CARD-109]', async () => {
    const entries = (prefix: string, count: number): object[] =>
      Array.from({ length: count }, (_, index) => {
        const name = `${prefix}-${index}`
        const type = 'application/mcp-server-card+json'
        return { identifier: name, type, data: cardOf(name) }
      })
    const many = await find({ [CATALOG]: catalogOf(...entries('a', 150)) })
    expect([many.cards.length, steps(many)]).toEqual([100, ['limit']])
    const catalogs = Array.from({ length: 10 }, (_, index) => ({
      identifier: `catalog-${index}`,
      type: CATALOG_TYPE,
      data: catalogOf(...entries(`c${index}`, 100)),
    }))
    const most = await find({ [CATALOG]: catalogOf(...catalogs) })
    expect([most.cards.length, steps(most)]).toEqual([500, ['limit']])
    const others = Array.from({ length: 150 }, (_, index) => {
      return { identifier: `other-${index}`, type: 'application/a2a-agent-card+json', data: {} }
    })
    const last = await find({ [CATALOG]: catalogOf(...others, ...entries('a', 1)) })
    expect([last.cards.length, steps(last)]).toEqual([1, []])
    const thousands = await find({ [CATALOG]: catalogOf(...entries('a', 3000)) })
    expect(thousands.cards).toHaveLength(100)
  })

  it('lists one server for each endpoint, whatever its names [E-CARD-090]', async () => {
    const data = (identifier: string, card: object): object => ({
      identifier,
      type: 'application/mcp-server-card+json',
      data: card,
    })
    const remote = (host: string) => [
      { type: 'streamable-http' as const, url: `https://${host}/mcp` },
    ]
    const found = await list([
      data('1', cardOf('same', { remotes: remote('a.example') })),
      data('2', cardOf('same', { remotes: remote('b.example') })),
      data('3', cardOf('other', { remotes: remote('a.example') })),
    ])
    expect(found.cards.map(({ card }) => card.remotes?.[0]?.url)).toEqual([
      'https://a.example/mcp',
      'https://b.example/mcp',
    ])
  })
})

describe('An entry of a catalog', () => {
  const shown = async (
    entry: object,
    card: object,
  ): Promise<Discovery['cards'][number] | undefined> => {
    const type = 'application/mcp-server-card+json'
    const { cards } = await list([
      { identifier: 'urn:air:x:mcp:weather', type, data: { ...cardOf(), ...card }, ...entry },
    ])
    return cards[0]
  }

  it('is shown by its name, by the title of the card, or by the end of its identifier [E-CARD-110]', async () => {
    expect(await shown({ displayName: 'A' }, { title: 'B' })).toMatchObject({ displayName: 'A' })
    expect(await shown({}, { title: 'B' })).toMatchObject({ displayName: 'B' })
    expect(await shown({}, {})).toMatchObject({ displayName: 'weather' })
    expect(await shown({ identifier: 'https://x/y' }, {})).toMatchObject({ displayName: 'y' })
  })

  it('is described by its description, or by that of the card [E-CARD-111]', async () => {
    expect(await shown({ description: 'A' }, { description: 'B' })).toMatchObject({
      description: 'A',
    })
    expect(await shown({}, { description: 'B' })).toMatchObject({ description: 'B' })
  })

  it('has its own version, or that of the card, and reports a difference [E-CARD-112]', async () => {
    expect(await shown({ version: '2.0.0' }, {})).toMatchObject({
      version: '2.0.0',
      differences: ['version'],
    })
    expect(await shown({ version: '1.0.0' }, {})).toMatchObject({
      version: '1.0.0',
      differences: [],
    })
    expect(await shown({}, {})).toMatchObject({ version: '1.0.0', differences: [] })
  })

  it('is the newest of those with its identifier [E-CARD-113]', async () => {
    const newest = async (...entries: object[]): Promise<unknown> => {
      const all = entries.map((entry, index) => ({
        ...entryOf(at(`v${index}`)),
        identifier: 'x',
        ...entry,
      }))
      return names(await list(all, 'v0', 'v1', 'v2'))
    }
    expect(await newest({ version: '1.9.0' }, { version: '1.10.0' }, { version: '1.2.0' })).toEqual(
      ['v1'],
    )
    expect(await newest({ version: '2.0.0' }, { version: '2.0.0-rc.1' })).toEqual(['v0'])
    expect(await newest({ version: '2.0.0-rc.2' }, { version: '2.0.0-rc.10' })).toEqual(['v1'])
    expect(await newest({ version: '2.0.0-1' }, { version: '2.0.0-rc' })).toEqual(['v1'])
    const blue = { version: 'blue', updatedAt: '2026-01-01T00:00:00Z' }
    const green = { version: 'green', updatedAt: '2026-02-01T00:00:00Z' }
    expect(await newest(blue, green)).toEqual(['v1'])
    expect(await newest(green, blue)).toEqual(['v0'])
  })

  it('proves nothing about its publisher by its identifier [E-CARD-114]', async () => {
    for (const identifier of ['foo', 'did:web:x', 'urn:air:bank.example:mcp:x']) {
      const found = await shown({ identifier }, {})
      expect(found).toMatchObject({ domain: 'example.com', catalogHost: 'example.com' })
      const { unverifiedEntry, ...described } = { ...found }
      expect(unverifiedEntry).toMatchObject({ identifier })
      expect(JSON.stringify(described)).not.toContain('bank')
    }
  })

  it('matches its SHA-256 digest, and no weaker one [E-CARD-115] [E-CARD-116]', async () => {
    const card = cardOf('a')
    const hex = async (text: string): Promise<string> => {
      const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
      return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, '0')).join('')
    }
    const right = `sha256:${await hex(JSON.stringify(card))}`
    const wrong = right.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'))
    expect(names(await list([entryOf(at('a'), { digest: right })], 'a'))).toEqual(['a'])
    for (const digest of [wrong, 'md5:00', 'sha1:00', 'x']) {
      const found = await list([entryOf(at('a'), { digest })], 'a')
      expect([found.cards, steps(found)]).toEqual([[], ['digest']])
    }
    const embedded = {
      version: '1.0.0',
      name: 'com.example/a',
      description: 'é',
      _meta: { 'a.b/9': [1.5, null, true], 'a.b/10': {} },
    }
    const canonical =
      '{"_meta":{"a.b/10":{},"a.b/9":[1.5,null,true]},"description":"é","name":"com.example/a","version":"1.0.0"}'
    const type = 'application/mcp-server-card+json'
    const entry = {
      identifier: 'x',
      type,
      data: embedded,
      digest: `sha256:${await hex(canonical)}`,
    }
    expect(names(await list([entry]))).toEqual(['a'])
    expect(steps(await list([{ ...entry, data: { ...embedded, version: '1.0.1' } }]))).toEqual([
      'digest',
    ])
  })

  it('has signatures and trust manifests that are returned as unverified [E-CARD-117]', async () => {
    const signature = { signer: 'x', profile: 'y', jws: 'z' }
    const trustManifests = [{ any: 1 }]
    const catalog = { ...catalogOf(entryOf(at('a'), { trustManifests })), signature }
    const { cards } = await find({ [CATALOG]: catalog, [at('a')]: cardOf('a') })
    expect(cards[0]).toMatchObject({
      unverifiedSignature: signature,
      unverifiedEntry: { trustManifests },
    })
  })

  it('may name a card on another domain with the consent of the application [E-CARD-091] [E-CARD-104]', async () => {
    const other = 'https://b.example:8443/card'
    const pages = { [CATALOG]: catalogOf(entryOf(other)), [other]: cardOf('a') }
    const refused = await find(pages)
    expect([refused.cards, steps(refused)]).toEqual([[], ['address']])
    const { cards } = await find(pages, {
      allowUrl: ({ host }) => host === 'b.example:8443' || host === 'example.com',
    })
    expect(cards[0]).toMatchObject({ catalogHost: 'example.com', cardHost: 'b.example:8443' })
    const below = 'https://mcp.example.com/card'
    expect(
      names(await find({ [CATALOG]: catalogOf(entryOf(below)), [below]: cardOf('a') })),
    ).toEqual(['a'])
  })
})

describe('The link of a page to a catalog', () => {
  const PAGE = at('shop/page')
  const html =
    (head: string, headers: Record<string, string> = {}) =>
    () =>
      new Response(`<!doctype html><html><head>${head}</head><body></body></html>`, {
        headers: { 'content-type': 'text/html; charset=utf-8', ...headers },
      })

  async function readFrom(
    page: Parameters<typeof sites>[0][string],
    options: DiscoverOptions = {},
  ): Promise<string[]> {
    const catalog = catalogOf()
    const pages = {
      [CATALOG]: catalog,
      [at('shop/c.json')]: catalog,
      [at('d.json')]: catalog,
      'https://other.example/c.json': catalog,
    }
    const { fetch, addresses } = sites({
      ...pages,
      [PAGE]: page,
      [at('old')]: () => redirect(PAGE),
    })
    await discover(at('old'), { fetch, from: 'page', ...options })
    return addresses().slice(2)
  }

  it('is in its header, or else in its HTML, or else in neither [E-CARD-093] [E-CARD-094]', async () => {
    const element = '<link rel="stylesheet" href=/x><link href="c.json" rel="alternate AI-Catalog">'
    const header = { link: '<https://a.example>; rel="next", </d.json>; rel="x ai-catalog"' }
    expect(await readFrom(html(element))).toEqual([at('shop/c.json')])
    expect(await readFrom(html(element, header))).toEqual([at('d.json')])
    expect(await readFrom(html(''))).toEqual([CATALOG])
    expect(await readFrom(html(`<!-- ${element} -->`))).toEqual([CATALOG])
    expect(
      await readFrom(
        html('<link rel=ai-catalog href="c.json?a=1&amp;b"/>'.replace('?a=1&amp;b', '')),
      ),
    ).toEqual([at('shop/c.json')])
  })

  it('leads to another host only as far as the application allows [E-CARD-094]', async () => {
    const page = html('<link rel="ai-catalog" href="https://other.example/c.json">')
    await expect(readFrom(page)).rejects.toMatchObject({ code: 'DENIED' })
    expect(await readFrom(page, { allowUrl: () => true })).toEqual(['https://other.example/c.json'])
  })

  it('is found in time that grows with the size of the page', async () => {
    for (const unit of ['<link "', "<link '", '<link a=', '<!--', '<link rel="ai-catalog']) {
      const page = html(unit.repeat(Math.floor(900_000 / unit.length)))
      const startedAt = performance.now()
      expect(await readFrom(page)).toEqual([CATALOG])
      expect(performance.now() - startedAt).toBeLessThan(4_000)
    }
  })
})

describe('The endpoint of a server', () => {
  const ENDPOINT = 'https://weather.example.com/mcp'
  const origin = 'https://weather.example.com/.well-known/ai-catalog.json'

  it('is asked for its card only when the application asks for it [E-CARD-120]', async () => {
    const { fetch, addresses } = sites({ [`${ENDPOINT}/server-card`]: cardOf() })
    expect((await discover(ENDPOINT, { fetch })).cards).toEqual([])
    expect(addresses()).toEqual([origin])
    const { cards } = await discover(ENDPOINT, { fetch, from: 'endpoint' })
    expect(cards.map(({ card }) => card)).toEqual([cardOf()])
    expect((await discover(ENDPOINT, { fetch: sites({}).fetch, from: 'endpoint' })).cards).toEqual(
      [],
    )
  })

  it('is looked up in the catalog if it has no card', async () => {
    const type = 'application/mcp-server-card+json'
    const entries = ['other', 'weather'].map((name) => ({
      identifier: name,
      type,
      data: cardOf(name),
    }))
    const { fetch } = sites({
      [origin]: catalogOf(...entries),
      [`${ENDPOINT}/server-card`]: () => new Response('x'),
    })
    expect(names(await discover(ENDPOINT, { fetch, from: 'endpoint' }))).toEqual(['weather'])
  })
})

describe('A client', () => {
  it('discovers nothing unless asked, and declares no extension for it [E-CARD-121] [E-CARD-143]', async () => {
    const server = createServer({ name: 'weather', version: '1.0.0' })
    const seen: string[] = []
    const handle = createHandler(server)
    const fetch = vi.fn(async (url: string, init: RequestInit) => {
      seen.push(url, String(init.body))
      return handle(new Request(url, init))
    })
    await using client = await connect('https://weather.example.com/mcp', { fetch })
    expect(client.serverInfo?.name).toBe('weather')
    expect(
      seen.filter((url) => url.startsWith('https:') && url !== 'https://weather.example.com/mcp'),
    ).toEqual([])
    expect(seen.join()).not.toContain('server-card')
    await connectInMemory(server)
  })

  it('reads a catalog from its cache', async () => {
    const cache = cardCache()
    const { fetch, requests }: Sites = sites({
      [CATALOG]: () => json(catalogOf(), { 'cache-control': 'max-age=60' }),
    })
    for (let count = 0; count < 2; count++) await discover('example.com', { fetch, cache })
    expect(requests).toHaveLength(1)
  })
})
