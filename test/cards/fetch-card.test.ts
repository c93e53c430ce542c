import { afterEach, describe, expect, it, vi } from 'vitest'
import { cardCache, fetchCard } from '../../src/cards/index.ts'
import type { FetchDocumentOptions } from '../../src/cards/fetch-document.ts'
import { selectIcon } from '../../src/presets/client.ts'
import { cardOf, json, redirect, sites, type Sites } from './site.ts'

const URL_OF_CARD = 'https://weather.example.com/mcp/server-card'

/** Fetches a card from a site that serves this page at its address. */
function fetchFrom(
  page: Parameters<typeof sites>[0][string],
  options: FetchDocumentOptions = {},
): ReturnType<typeof fetchCard> {
  return fetchCard(URL_OF_CARD, { fetch: sites({ [URL_OF_CARD]: page }).fetch, ...options })
}

function failedAt(step: string, code: string): object {
  return expect.objectContaining({ code, data: expect.objectContaining({ step }) })
}

describe('fetchCard', () => {
  it('asks for the type of cards without credentials [E-CARD-055] [E-CARD-057] [E-CARD-076]', async () => {
    const { fetch, requests } = sites({ [URL_OF_CARD]: cardOf() })
    expect(await fetchCard(URL_OF_CARD, { fetch })).toMatchObject({ card: cardOf() })
    const [{ headers, init }] = requests as [Sites['requests'][number]]
    expect(headers.get('accept')).toBe('application/mcp-server-card+json, application/json;q=0.5')
    expect([...headers.keys()]).toEqual(['accept'])
    expect(init.credentials).toBe('omit')
  })

  it('describes where the card comes from, and how to show it [E-CARD-091]', async () => {
    expect(await fetchFrom(cardOf('weather', { title: 'Weather' }))).toMatchObject({
      ...{ domain: 'weather.example.com', displayName: 'Weather', version: '1.0.0' },
      ...{ cardHost: 'weather.example.com', catalogHost: undefined, differences: [] },
    })
  })

  it('accepts the types of cards and of JSON, with parameters, and no others [E-CARD-056]', async () => {
    const typed = (type: string) => () => json(cardOf(), { 'content-type': type })
    for (const type of ['application/mcp-server-card+json', 'application/json']) {
      for (const each of [type, `${type}; charset=utf-8`, type.toUpperCase()]) {
        await expect(fetchFrom(typed(each))).resolves.toMatchObject({ card: cardOf() })
      }
    }
    for (const type of ['text/html', 'application/json-patch+json', '']) {
      await expect(fetchFrom(typed(type))).rejects.toEqual(failedAt('type', 'INVALID_MESSAGE'))
    }
  })

  it('takes a card without a schema as one of the first version, and no other schema [E-CARD-003] [E-CARD-004]', async () => {
    const { $schema: _, ...without } = cardOf()
    const { fetch, addresses } = sites({ [URL_OF_CARD]: without })
    await expect(fetchCard(URL_OF_CARD, { fetch })).resolves.toMatchObject({ card: without })
    expect(addresses()).toEqual([URL_OF_CARD])
    const other = ['2026-06-18/server-card', 'v1/server', 'v2/server-card']
    for (const schema of [
      ...other.map((name) => `https://static.modelcontextprotocol.io/schemas/${name}.schema.json`),
      5,
    ]) {
      const card = { ...cardOf(), $schema: schema }
      await expect(fetchFrom(card)).rejects.toThrow('"$schema" must be')
    }
  })

  it('keeps unknown members at every depth [E-CARD-021]', async () => {
    const remote = { type: 'sse', url: 'https://a.example', future: { a: 1 } } as const
    const card = { ...cardOf(), future: [1], remotes: [remote], icons: [{ src: 'a:b', future: 2 }] }
    expect((await fetchFrom(card)).card).toEqual(card)
  })

  it.each([
    [[], '"document" must be an object'],
    [{ ...cardOf(), version: '' }, '"version" must be'],
    [{ ...cardOf(), name: 'a' }, '"name" must be'],
    [{ ...cardOf(), description: undefined }, '"description" must be'],
    [{ ...cardOf(), remotes: [{ type: 'stdio', url: 'https://a' }] }, '"remotes[0].type" must be'],
  ])('names the invalid members of a card [E-CARD-008] [E-CARD-079]', async (card, message) => {
    const error = await fetchFrom(card).catch((thrown: unknown) => thrown)
    expect(error).toEqual(failedAt('card', 'INVALID_MESSAGE'))
    expect(String(error)).toContain(message)
  })

  it('names the step that failed [E-CARD-068] [E-CARD-079]', async () => {
    const broken = new ReadableStream({
      start: (controller) => controller.error(new Error('reset')),
    })
    const headers = { 'content-type': 'application/json' }
    const steps: [Parameters<typeof fetchFrom>[0], string, string][] = [
      [() => Promise.reject(new TypeError('no route')), 'network', 'NETWORK'],
      [() => new Response(broken, { headers }), 'network', 'NETWORK'],
      [() => new Response(null, { status: 503 }), 'status', 'HTTP'],
      [() => new Response(null, { status: 304 }), 'status', 'HTTP'],
      [() => new Response('{', { headers }), 'json', 'INVALID_MESSAGE'],
      [() => new Response('\ufffd\ufffd', { headers }), 'json', 'INVALID_MESSAGE'],
      [
        () => new Response(new Uint8Array([0x22, 0xff, 0x22]), { headers }),
        'json',
        'INVALID_MESSAGE',
      ],
    ]
    for (const [page, step, code] of steps) {
      await expect(fetchFrom(page)).rejects.toEqual(failedAt(step, code))
    }
  })

  it('reads no JSON that is nested too deeply, or that names a member twice [E-CARD-078]', async () => {
    const deep = `${'['.repeat(200)}${']'.repeat(200)}`
    const texts = [`{"name":1,"name":2}`, `{"a":{"b":1,"\\u0062":2}}`, `{"a":${deep}}`]
    for (const text of texts) {
      const page = (): Response =>
        new Response(text, { headers: { 'content-type': 'application/json' } })
      await expect(fetchFrom(page)).rejects.toEqual(failedAt('json', 'INVALID_MESSAGE'))
    }
    const same = { ...cardOf(), _meta: { 'a.b/c': { title: 'x' }, 'a.b/d': [{ title: '"{[' }] } }
    await expect(fetchFrom(same)).resolves.toMatchObject({ card: same })
  })

  it('limits the size of a document [E-CARD-074] [E-CARD-078]', async () => {
    const large = { ...cardOf(), _meta: { 'a.b/c': 'x'.repeat(2 * 1024 * 1024) } }
    await expect(fetchFrom(large)).rejects.toEqual(failedAt('size', 'LIMIT_EXCEEDED'))
    await expect(fetchFrom(cardOf(), { maxBytes: 10 })).rejects.toEqual(
      failedAt('size', 'LIMIT_EXCEEDED'),
    )
    await expect(fetchFrom(large, { maxBytes: 3 * 1024 * 1024 })).resolves.toBeDefined()
  })

  it('limits the time until a document is complete [E-CARD-074]', async () => {
    vi.useFakeTimers()
    try {
      const never = new ReadableStream()
      const headers = { 'content-type': 'application/json' }
      for (const page of [
        () => new Promise<Response>(() => {}),
        () => new Response(never, { headers }),
      ]) {
        const fetched = expect(fetchFrom(page)).rejects.toMatchObject({ code: 'TIMEOUT' })
        await vi.advanceTimersByTimeAsync(10_000)
        await fetched
      }
    } finally {
      vi.useRealTimers()
    }
  })

  it('ends when the application aborts', async () => {
    const controller = new AbortController()
    const { signal } = controller
    const page = (): Promise<Response> => {
      controller.abort()
      return new Promise(() => {})
    }
    await expect(fetchFrom(page, { signal })).rejects.toMatchObject({ code: 'ABORTED' })
  })
})

describe('The addresses of cards', () => {
  it.each([
    ...['http://h.example/card', 'ftp://h.example/card', 'https://good.example@evil.example/card'],
    ...[
      'http://localhost/card',
      'https://localhost/card',
      'https://10.0.0.1/card',
      'card',
      '/card',
    ],
    ...['https://169.254.169.254/card', 'https://[::1]/card', 'https://[fd00::1]/card'],
    ...['https://127.1/card', 'https://0x7f.1/card', 'https://metadata.google.internal/card'],
  ])(
    'such as %s are not requested by default [E-CARD-070] [E-CARD-075] [E-CARD-077]',
    async (url) => {
      const { fetch, requests } = sites({})
      await expect(fetchCard(url, { fetch })).rejects.toEqual(failedAt('address', 'DENIED'))
      expect(requests).toEqual([])
    },
  )

  it('may be loopback in development, where plain HTTP is permitted [E-CARD-070]', async () => {
    const url = 'http://localhost:8000/mcp/server-card'
    const { fetch } = sites({ [url]: cardOf() })
    const allowUrl = ({ hostname }: URL): boolean => hostname === 'localhost'
    await expect(fetchCard(url, { fetch, allowUrl })).resolves.toMatchObject({ card: cardOf() })
    for (const other of ['http://h.example/card', 'http://user@localhost:8000/card']) {
      await expect(fetchCard(other, { fetch, allowUrl: () => true })).rejects.toMatchObject({
        code: 'DENIED',
      })
    }
  })

  it('are followed through three redirects within the domain [E-CARD-074]', async () => {
    const at = (step: number): string => `https://weather.example.com/${step}`
    const pages = {
      [URL_OF_CARD]: () => redirect('/1'),
      [at(1)]: () => redirect(at(2)),
      [at(2)]: () => redirect('3'),
    }
    const { fetch } = sites({ ...pages, [at(3)]: cardOf() })
    expect(await fetchCard(URL_OF_CARD, { fetch })).toMatchObject({ card: cardOf() })
    const tooMany = sites({ ...pages, [at(3)]: () => redirect(at(4)), [at(4)]: cardOf() })
    await expect(fetchCard(URL_OF_CARD, tooMany)).rejects.toEqual(failedAt('status', 'HTTP'))
  })

  it.each([
    'https://10.0.0.1/card',
    'http://weather.example.com/card',
    'https://evil.example/card',
    'https://u:p@weather.example.com/',
  ])('are checked again when a redirect leads to %s [E-CARD-074] [E-CARD-075]', async (target) => {
    const { fetch, addresses } = sites({ [URL_OF_CARD]: () => redirect(target) })
    await expect(fetchCard(URL_OF_CARD, { fetch })).rejects.toEqual(failedAt('address', 'DENIED'))
    expect(addresses()).toEqual([URL_OF_CARD])
  })

  it('are on another domain only with the consent of the application', async () => {
    const other = 'https://host.example.org/card'
    const { fetch } = sites({ [URL_OF_CARD]: () => redirect(other), [other]: cardOf() })
    const asked: string[] = []
    const allowUrl = async (url: URL): Promise<boolean> => asked.push(url.href) > 0
    expect((await fetchCard(URL_OF_CARD, { fetch, allowUrl })).cardHost).toBe('host.example.org')
    expect(asked).toContain(other)
  })

  it('are also those that a browser was redirected to', async () => {
    const opaque = (): Response =>
      Object.defineProperty(new Response(), 'type', { value: 'opaqueredirect' })
    const followed = (): Response =>
      Object.defineProperty(json(cardOf()), 'url', { value: 'https://evil.example/' })
    const page = ({ redirect: mode }: RequestInit): Response =>
      mode === 'manual' ? opaque() : followed()
    await expect(fetchFrom(page)).rejects.toEqual(failedAt('address', 'DENIED'))
  })
})

describe('A cache of cards', () => {
  afterEach(() => void vi.useRealTimers())

  it('revalidates a card by its tag [E-CARD-066]', async () => {
    const { fetch, requests } = sites({
      [URL_OF_CARD]: ({ headers }) =>
        new Headers(headers).has('if-none-match')
          ? new Response(null, { status: 304 })
          : json(cardOf(), { etag: '"1"' }),
    })
    const cache = cardCache()
    for (let count = 0; count < 3; count++) {
      expect((await fetchCard(URL_OF_CARD, { fetch, cache })).card).toEqual(cardOf())
    }
    expect(requests.map(({ headers }) => headers.get('if-none-match'))).toEqual([
      null,
      '"1"',
      '"1"',
    ])
    await fetchCard(URL_OF_CARD, { fetch })
    expect(requests.at(-1)?.headers.has('if-none-match')).toBe(false)
  })

  it('uses a card without a request while it is fresh [E-CARD-067]', async () => {
    vi.useFakeTimers()
    const { fetch, requests } = sites({
      [URL_OF_CARD]: () => json(cardOf(), { 'cache-control': 'max-age=60' }),
    })
    const cache = cardCache()
    await fetchCard(URL_OF_CARD, { fetch, cache })
    vi.advanceTimersByTime(59_000)
    await fetchCard(URL_OF_CARD, { fetch, cache })
    expect(requests).toHaveLength(1)
    vi.advanceTimersByTime(2_000)
    await fetchCard(URL_OF_CARD, { fetch, cache })
    expect(requests).toHaveLength(2)
  })

  it('does not store what must not be stored [E-CARD-067]', async () => {
    const headers = { 'cache-control': 'no-store, max-age=60', etag: '"1"' }
    const { fetch, requests } = sites({ [URL_OF_CARD]: () => json(cardOf(), headers) })
    const cache = cardCache()
    for (let count = 0; count < 2; count++) await fetchCard(URL_OF_CARD, { fetch, cache })
    expect(requests.map((request) => request.headers.has('if-none-match'))).toEqual([false, false])
  })

  it('does not use a card whose address is no longer allowed', async () => {
    const { fetch } = sites({
      [URL_OF_CARD]: () => json(cardOf(), { 'cache-control': 'max-age=60' }),
    })
    const cache = cardCache()
    await fetchCard(URL_OF_CARD, { fetch, cache })
    const denied = fetchCard(URL_OF_CARD, { fetch, cache, allowUrl: () => false })
    await expect(denied).rejects.toMatchObject({ code: 'DENIED' })
  })
})

describe('The icons of a card', () => {
  const at = (src: string, mimeType?: string): object => ({ src, ...(mimeType && { mimeType }) })
  const select = (...icons: object[]): string | undefined =>
    selectIcon(icons, { serverUrl: 'https://weather.example.com/mcp' })?.src

  it('are chosen if they are PNG or JPEG [E-CARD-017]', () => {
    const own = 'https://weather.example.com'
    expect(select(at(`${own}/a.svg`, 'image/svg+xml'), at(`${own}/b.png`, 'image/png'))).toBe(
      `${own}/b.png`,
    )
    expect(select(at(`${own}/c.jpg`, 'image/jpeg'))).toBe(`${own}/c.jpg`)
  })

  it('are not chosen from other hosts or schemes [E-CARD-018]', () => {
    const sources = [
      'javascript:alert(1)',
      'https://evil.example/i.png',
      'http://weather.example.com/i.png',
    ]
    expect(select(...sources.map((src) => at(src)))).toBeUndefined()
    const [src] = sources.slice(1)
    const allowed = {
      serverUrl: 'https://weather.example.com',
      allowedOrigins: ['https://evil.example'],
    }
    expect(selectIcon([{ src }], allowed)?.src).toBe(src)
  })
})
