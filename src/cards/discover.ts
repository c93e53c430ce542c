/**
 * Finds the server cards of a domain, through its AI catalog.
 *
 * @see https://github.com/modelcontextprotocol/experimental-ext-server-card/blob/main/docs/discovery.md#client-discovery-flow
 */
import { requireKnown, type OptionNames } from '../patterns/known-options.ts'
import { SdkError } from '../protocol/errors.ts'
import { CatalogSearch, type CardFailure } from './catalog-search.ts'
import { findCatalogLink } from './catalog-link.ts'
import { fetchDocument, type FetchDocumentOptions } from './fetch-document.ts'
import { fetchCardDocument, foundCard, type FoundCard } from './read-card.ts'
import { CATALOG_PATH } from './types.ts'
import { parseUrl } from '../patterns/url.ts'

/** Options of {@link discover}. */
export interface DiscoverOptions extends FetchDocumentOptions {
  /**
   * Where to search for cards.
   *
   * - `domain`: Searches the catalog of the domain.
   * - `page`: First searches the catalog that the given page links to.
   * - `endpoint`: First searches below the given endpoint, which needs no catalog. Then searches the catalog for
   *   the card of this endpoint.
   *
   * @default 'domain'
   */
  from?: 'domain' | 'page' | 'endpoint'
  /**
   * Whether to also look where earlier drafts placed cards and catalogs, if there is no catalog.
   *
   * @default false
   */
  olderPaths?: boolean
}

/** The result of {@link discover}. */
export interface Discovery {
  /**
   * The cards, in the order of the catalog. Of several entries with one identifier, only the newest version
   * is included, and of several cards with one endpoint, only the first card.
   */
  readonly cards: readonly FoundCard[]
  /** The entries whose card could not be read, and the entries beyond the limits. */
  readonly failures: readonly CardFailure[]
}

/** The names of the options. The values have no meaning. */
const OPTION_NAMES: OptionNames<DiscoverOptions> = {
  fetch: 1,
  allowUrl: 1,
  timeoutMs: 1,
  maxBytes: 1,
  cache: 1,
  signal: 1,
  from: 1,
  olderPaths: 1,
}

const OLDER_CARD_PATHS = [
  '/.well-known/mcp/server-card.json',
  '/.well-known/mcp-server-card',
  '/.well-known/mcp-server-card.json',
  '/.well-known/server-card.json',
]
const OLDER_CATALOG_PATHS = ['/.well-known/mcp/catalog.json', '/.well-known/ard.json']

/**
 * Finds the servers of a domain. For a domain without a catalog, the result is empty. Does not connect to
 * the servers or store anything: show the user what was found, then use {@link chooseRemote}.
 *
 * Reads at most 100 cards and nested catalogs per catalog, 500 cards in total, and nested catalogs to a
 * depth of 4.
 *
 * @example
 * ```ts
 * import { discover } from 'edgewise/cards'
 *
 * const { cards, failures } = await discover('example.com')
 * for (const { displayName, cardHost } of cards) console.log(displayName, cardHost)
 * for (const { identifier, error } of failures) console.warn(identifier, error.message)
 * ```
 *
 * @param target A domain, or a URL. Only the origin of the URL is used unless `from` is set.
 * @throws {SdkError} `DENIED` if the address may not be used; `NETWORK`, `TIMEOUT`, `ABORTED` or
 *   `HTTP` if the catalog cannot be received; `LIMIT_EXCEEDED` if it is too large; `INVALID_MESSAGE`
 *   if it is not a catalog.
 * @throws {TypeError} If an option is unknown.
 * @see https://github.com/modelcontextprotocol/experimental-ext-server-card/blob/main/docs/discovery.md#client-discovery-flow
 */
export async function discover(
  target: string | URL,
  options: DiscoverOptions = {},
): Promise<Discovery> {
  requireKnown('Discovery', options, OPTION_NAMES)
  const { from = 'domain', olderPaths, ...fetchOptions } = options
  const address = urlOf(String(target))
  const { hostname: domain, origin } = address
  const search = new CatalogSearch(domain, fetchOptions)
  const searchResult = (): Discovery => ({ cards: search.cards, failures: search.failures })
  if (from === 'endpoint') {
    const card = await ifAvailable(
      cardAt(`${origin}${address.pathname.replace(/\/$/, '')}/server-card`),
    )
    if (card) return { cards: [card], failures: [] }
  }
  const linkedUrl = from === 'page' ? await linkOf(address.href) : undefined
  const catalogUrl = linkedUrl ?? `${origin}${CATALOG_PATH}`
  const hasCatalog = await search.readRoot(catalogUrl)
  if (from === 'endpoint') {
    const cards = search.cards.filter((card) => namesEndpoint(card, address))
    return { cards, failures: search.failures }
  }
  if (hasCatalog || !olderPaths) return searchResult()
  for (const path of OLDER_CATALOG_PATHS) {
    if (await ifAvailable(search.readRoot(`${origin}${path}`))) return searchResult()
  }
  for (const path of OLDER_CARD_PATHS) {
    const card = await ifAvailable(cardAt(`${origin}${path}`))
    if (card) return { cards: [card], failures: [] }
  }
  return searchResult()

  async function cardAt(url: string): Promise<FoundCard> {
    return foundCard({ domain, ...(await fetchCardDocument(url, domain, fetchOptions)) })
  }

  async function linkOf(url: string): Promise<string | undefined> {
    return findCatalogLink(await fetchDocument({ url, domain, types: [] }, fetchOptions))
  }
}

/** A URL, or a domain with or without a port. */
function urlOf(target: string): URL {
  const text = target.includes('://') ? target : `https://${target}`
  const url = parseUrl(text)
  if (url) return url
  throw new SdkError('DENIED', `"${target}" is not a domain or a URL`, {
    data: { step: 'address' },
  })
}

/** Whether a card names an endpoint. */
function namesEndpoint({ card }: FoundCard, endpoint: URL): boolean {
  return (card.remotes ?? []).some(({ url }) => {
    return parseUrl(url)?.href === endpoint.href
  })
}

/** Waits for a document. Resolves with `undefined` if the document does not exist or cannot be read. */
async function ifAvailable<T>(attempt: Promise<T>): Promise<T | undefined> {
  try {
    return await attempt
  } catch (error) {
    if (error instanceof SdkError && error.code !== 'ABORTED') return undefined
    throw error
  }
}
