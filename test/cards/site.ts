/** Web sites whose pages are values, for the readers of cards and catalogs. */
import { CARD_SCHEMA, CARD_TYPE, CATALOG_TYPE, type ServerCard } from '../../src/cards/types.ts'

/** A page: a document, or what creates the response to each request. */
type Page = object | ((init: RequestInit) => Response | Promise<Response>)

/** Sites, and the requests that they received. */
export interface Sites {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
  readonly requests: { url: string; headers: Headers; init: RequestInit }[]
  /** The addresses of the requests. */
  readonly addresses: () => string[]
}

/** Creates sites from pages by address. All other pages are missing. */
export function sites(pages: Readonly<Record<string, Page>>): Sites {
  const requests: Sites['requests'] = []
  return {
    requests,
    addresses: () => requests.map(({ url }) => url),
    async fetch(url, init) {
      requests.push({ url, headers: new Headers(init.headers), init })
      const page = pages[url]
      if (page === undefined) return new Response('Not found', { status: 404 })
      return typeof page === 'function' ? page(init) : json(page)
    },
  }
}

/** A response with a document. */
export function json(document: object, headers: Record<string, string> = {}): Response {
  const type = Object.hasOwn(document, 'entries') ? CATALOG_TYPE : CARD_TYPE
  return new Response(JSON.stringify(document), { headers: { 'content-type': type, ...headers } })
}

/** A redirect. */
export function redirect(location: string): Response {
  return new Response(null, { status: 302, headers: { location } })
}

/** A card with one endpoint. */
export function cardOf(name = 'weather', more: Partial<ServerCard> = {}): ServerCard {
  return {
    $schema: CARD_SCHEMA,
    name: `com.example/${name}`,
    version: '1.0.0',
    description: 'Tells the weather.',
    remotes: [{ type: 'streamable-http', url: `https://${name}.example.com/mcp` }],
    ...more,
  }
}

/** A catalog. */
export function catalogOf(...entries: unknown[]): object {
  return { specVersion: '1.0', entries }
}

/** The entry of a card, or of another document. */
export function entryOf(url: string, more: object = {}): object {
  return { identifier: `urn:air:example.com:mcp:${url}`, type: CARD_TYPE, url, ...more }
}
