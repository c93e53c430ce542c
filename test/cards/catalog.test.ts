import { describe, expect, it } from 'vitest'
import { aiCatalog, catalogLink } from '../../src/cards/index.ts'
import type { CatalogEntry, ServerCard } from '../../src/cards/types.ts'
import { cardOf, entryOf } from './site.ts'

/** Creates a catalog of values that the types may not permit. */
function create(listed: readonly object[], options: object = {}): ReturnType<typeof aiCatalog> {
  return aiCatalog(listed as (ServerCard | CatalogEntry)[], options)
}

const URL_OF_CARD = 'https://weather.example.com/mcp/server-card'

describe('The catalog of a domain', () => {
  it('has the version 1.0 and a list of entries, perhaps empty [E-CARD-124]', () => {
    expect(create([])).toEqual({ specVersion: '1.0', entries: [] })
  })

  it('lists the address of a card and nothing that the card says itself [E-CARD-126] [E-CARD-128]', () => {
    expect(create([cardOf()]).entries).toEqual([
      {
        identifier: 'urn:air:example.com:mcp:weather',
        type: 'application/mcp-server-card+json',
        url: URL_OF_CARD,
      },
    ])
    const own = { displayName: 'Weather', description: 'Tells it.', version: '2.0.0' }
    expect(create([entryOf(URL_OF_CARD, own)]).entries[0]).toMatchObject(own)
  })

  it('contains the card itself if its address is unknown [E-CARD-126]', () => {
    const remotes: ServerCard['remotes'] = [
      { type: 'streamable-http', url: 'https://{a}.b.example/mcp' },
    ]
    const card = cardOf('weather', { remotes })
    const [entry] = create([card]).entries
    expect(entry).toMatchObject({ data: card })
    expect(entry).not.toHaveProperty('url')
    for (const invalid of [{ url: URL_OF_CARD, data: card }, { url: undefined }]) {
      const { url, ...other } = { ...entryOf(URL_OF_CARD), ...invalid }
      const entryOfBoth = url === undefined ? other : { ...other, url }
      expect(() => create([entryOfBoth])).toThrow('must have "url" or "data"')
    }
  })

  it('identifies a card by the publisher’s domain and the name of the server [E-CARD-127]', () => {
    const identifiers = (options: object): unknown =>
      create([cardOf()], options).entries.map(({ identifier }) => identifier)
    expect(identifiers({})).toEqual(['urn:air:example.com:mcp:weather'])
    expect(identifiers({ domain: 'example.org' })).toEqual(['urn:air:example.org:mcp:weather'])
  })

  it('lists an identifier twice only with different versions [E-CARD-129]', () => {
    const version = (text: string): object => entryOf(URL_OF_CARD, { version: text })
    expect(() => create([cardOf(), cardOf()])).toThrow('must be unique')
    expect(() => create([version('1.0.0'), version('1.0.0')])).toThrow('must be unique')
    expect(() => create([version('1.0.0'), entryOf(URL_OF_CARD)])).toThrow('must be unique')
    expect(create([version('1.0.0'), version('2.0.0')]).entries).toHaveLength(2)
  })

  it('names absolute HTTPS URLs of public hosts, without credentials [E-CARD-130] [E-CARD-132]', () => {
    const invalid = [
      ...['/card', 'http://h.example/card', 'https://intern/card', 'https://10.0.0.1/card'],
      ...['https://user:word@h.example/card', 'http://localhost:8000/card'],
    ]
    for (const url of invalid) {
      expect(() => create([entryOf(url)])).toThrow(`"${url}" must be a public HTTPS URL`)
    }
    const local = create([entryOf('http://localhost:8000/card')], { development: true })
    expect(local.entries[0]).toMatchObject({ url: 'http://localhost:8000/card' })
    expect(() => create([entryOf('http://u:p@localhost/')], { development: true })).toThrow()
  })

  it('has only values with one form in JSON [E-CARD-125]', () => {
    for (const value of ['\ud800', 2 ** 60, Number.NaN, Infinity]) {
      expect(() => create([], { extensions: { 'com.example.x': value } })).toThrow('exact form')
      expect(() => create([entryOf(URL_OF_CARD, { tags: [value] })])).toThrow('exact form')
    }
    expect(() => create([], { extensions: { 'com.example.x': { '\udc00': 1 } } })).toThrow('exact')
    expect(create([], { extensions: { 'com.example.x': [1.5, '🌦', null] } })).toBeDefined()
  })

  it('has extensions whose keys are URLs or reversed domains [E-CARD-133]', () => {
    const extensions = { 'com.example.x': 1, 'https://x.example/y': 2 }
    expect(create([], { extensions })).toMatchObject({ extensions })
    for (const key of ['x', 'X Y', 'a b.c']) {
      expect(() => create([], { extensions: { [key]: 1 } })).toThrow(`"${key}" must be a URL or`)
      expect(() => create([entryOf(URL_OF_CARD, { extensions: { [key]: 1 } })])).toThrow(key)
    }
  })

  it('rejects unknown options', () => {
    expect(() => create([], { entries: [] })).toThrow('The catalog has no option "entries"')
  })

  it('is linked to by a header without characters that end the URL early [E-CARD-134]', () => {
    expect(catalogLink()).toBe('</.well-known/ai-catalog.json>; rel="ai-catalog"')
    expect(catalogLink('https://a.example/c?x=1')).toBe(
      '<https://a.example/c?x=1>; rel="ai-catalog"',
    )
    expect(catalogLink('/a">, <b>\r\nx: é')).toBe(
      '</a%22%3E,%20%3Cb%3E%0D%0Ax:%20%C3%A9>; rel="ai-catalog"',
    )
  })
})
