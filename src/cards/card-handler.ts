/**
 * Serves a card and a catalog over HTTP. Both are public: they are served before any
 * authentication, to pages of every origin.
 *
 * @see https://github.com/modelcontextprotocol/experimental-ext-server-card/blob/main/docs/discovery.md#hosted-server-card-location
 */
import { digestText } from '../patterns/digest.ts'
import { requireKnown, type OptionNames } from '../patterns/known-options.ts'
import type { PublicDocuments } from '../server/public-documents.ts'
import type { Caller } from '../server/request/exchange.ts'
import { cardUrlOf } from './published-url.ts'
import { CARD_TYPE, CATALOG_PATH, CATALOG_TYPE, type AiCatalog, type ServerCard } from './types.ts'

/** Options of {@link cardHandler}. */
export interface CardHandlerOptions {
  /**
   * The paths of the card. By default `/server-card` below the path of its first endpoint, such as
   * `/mcp/server-card`. Clients of earlier drafts also look for it at
   * `/.well-known/mcp/server-card.json` and `/.well-known/mcp-server-card`.
   */
  paths?: readonly string[]
  /** A catalog to serve at `/.well-known/ai-catalog.json`. */
  catalog?: AiCatalog
  /**
   * The header `Cache-Control`. With an empty text, the header is omitted.
   *
   * @default 'public, max-age=3600'
   */
  cacheControl?: string
  /**
   * Limits the rate of requests. Returns `true` to answer a request, or `false` to reject it with the status
   * 429. By default all are answered.
   */
  allow?: (request: Request, caller: Caller) => boolean | Promise<boolean>
}

/** The names of the options. The values have no meaning. */
const OPTION_NAMES: OptionNames<CardHandlerOptions> = {
  paths: 1,
  catalog: 1,
  cacheControl: 1,
  allow: 1,
}

/**
 * Returns a handler that serves a card, and a catalog if you pass one. Pass it as the option `card` to
 * `serve` or `createWorker`. With `createHandler`, call it before the handler, as in the example.
 *
 * @example
 * ```ts
 * import { aiCatalog, cardHandler, serverCard } from 'edgewise/cards'
 * import { createHandler, createServer } from 'edgewise/server'
 *
 * const server = createServer({ name: 'travel', version: '1.0.0', description: 'Books trips' })
 * const card = serverCard(server, { remotes: ['https://travel.example.com/mcp'] })
 *
 * const handle = createHandler(server)
 * const cards = cardHandler(card, { catalog: aiCatalog([card]) })
 * export default { fetch: (request: Request) => cards(request) ?? handle(request) }
 * ```
 *
 * @throws {TypeError} If an option is unknown; a path is the path of an endpoint; or `paths` is missing,
 *   and all endpoints of the card have variables.
 * @see https://github.com/modelcontextprotocol/experimental-ext-server-card/blob/main/docs/discovery.md#hosted-server-card-location
 */
export function cardHandler(card: ServerCard, options: CardHandlerOptions = {}): PublicDocuments {
  requireKnown('The card handler', options, OPTION_NAMES)
  const cardUrl = cardUrlOf(card)
  // Without `paths` and a URL, the path is empty, and therefore invalid
  const { catalog, paths = [cardUrl === undefined ? '' : new URL(cardUrl).pathname] } = options
  // Found without `new URL`, which would encode the braces of variables
  const endpointPaths = card.remotes?.map(({ url }) => url.replace(/^.*?\/\/[^/]*/, ''))
  const invalid = paths.find((path) => !path.startsWith('/') || endpointPaths?.includes(path))
  if (invalid !== undefined) throw new TypeError(`The card cannot be at "${invalid}": set "paths"`)
  const answer = createResponder(card, CARD_TYPE, options)
  const answers = new Map(paths.map((path) => [path, answer]))
  if (catalog) answers.set(CATALOG_PATH, createResponder(catalog, CATALOG_TYPE, options))

  function handle(request: Request, caller: Caller = {}): Promise<Response> | undefined {
    return answers.get(new URL(request.url).pathname)?.(request, caller)
  }
  return Object.assign(handle, { paths: [...answers.keys()] })
}

/** Creates a function that answers requests with a document. Serializes the document only once. */
function createResponder(
  document: object,
  type: string,
  { allow, cacheControl = 'public, max-age=3600' }: CardHandlerOptions,
): (request: Request, caller: Caller) => Promise<Response> {
  const body = JSON.stringify(document)
  let digest: Promise<string> | undefined
  return async (request, caller) => {
    const { method, headers } = request
    const isHead = method === 'HEAD'
    if (method === 'OPTIONS') return respond(204)
    if (method !== 'GET' && !isHead) return respond(405, { allow: 'GET, HEAD, OPTIONS' })
    if (allow && !(await allow(request, caller))) return respond(429)
    const etag = `"${await (digest ??= digestText(body))}"`
    const knownTags = headers.get('if-none-match') ?? ''
    const caching = { etag, ...(cacheControl && { 'cache-control': cacheControl }) }
    // The header may contain the tag in a list or in its weak form, so it is searched for the tag
    if (knownTags === '*' || knownTags.includes(etag)) return respond(304, caching)
    return respond(200, { ...caching, 'content-type': type }, isHead ? null : body)
  }
}

/** Creates a response that pages of every origin can read. */
function respond(status: number, headers: object = {}, body: string | null = null): Response {
  return new Response(body, {
    status,
    headers: {
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET',
      'access-control-allow-headers': 'Content-Type, If-None-Match',
      'access-control-expose-headers': 'ETag',
      ...headers,
    },
  })
}
