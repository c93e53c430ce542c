/**
 * AI catalogs: the servers that a domain lists.
 *
 * @see https://github.com/Agent-Card/ai-catalog
 */
import { requireKnown, type OptionNames } from '../patterns/known-options.ts'
import { cardUrlOf, publishedUrlFaults } from './published-url.ts'
import { requireValid } from './shape.ts'
import {
  CARD_TYPE,
  CATALOG_PATH,
  type AiCatalog,
  type CatalogEntry,
  type ServerCard,
} from './types.ts'

/** Options of {@link aiCatalog}. */
export interface AiCatalogOptions extends Pick<AiCatalog, 'host' | 'extensions'> {
  /**
   * The publisher's domain, which the identifiers of the entries contain. By default, the domain in each
   * card's name: `example.com` for `com.example/weather`.
   */
  domain?: string
  /**
   * Whether the catalog may contain hosts that are not on the public Internet.
   *
   * @default false
   */
  development?: boolean
}

/** The names of the options. The values have no meaning. */
const OPTION_NAMES: OptionNames<AiCatalogOptions> = {
  host: 1,
  extensions: 1,
  domain: 1,
  development: 1,
}

/** A URL, or a reversed domain name. */
const EXTENSION_KEY = /^(?:https?:\/\/\S+|[a-z][\w-]*(?:\.[\w-]+)+)$/i

/**
 * Creates a catalog, to be served from the domain that users know. The entry of a card has the URL
 * `/server-card` below the first endpoint of the card; if the card has no endpoint, the entry contains the
 * card itself. To set other members, pass a whole entry.
 *
 * @example
 * ```ts
 * import { aiCatalog } from 'edgewise/cards'
 *
 * const catalog = aiCatalog([
 *   {
 *     identifier: 'urn:air:example.com:mcp:travel',
 *     type: 'application/mcp-server-card+json',
 *     url: 'https://travel.example.com/mcp/server-card',
 *   },
 * ])
 * console.log(JSON.stringify(catalog))
 * ```
 *
 * @throws {TypeError} If two entries have the same identifier without having different versions; an
 *   address is not an HTTPS URL of a public host; an entry has both or neither of `url` and `data`;
 *   a key of `extensions` is invalid; or a value has no unambiguous form in JSON.
 * @see https://github.com/Agent-Card/ai-catalog
 */
export function aiCatalog(
  cardsAndEntries: readonly (ServerCard | CatalogEntry)[],
  options: AiCatalogOptions = {},
): AiCatalog {
  requireKnown('The catalog', options, OPTION_NAMES)
  const { domain, development = false, host, extensions } = options
  const entries = cardsAndEntries.map((item) =>
    'identifier' in item ? item : entryOf(item, domain),
  )
  const catalog: AiCatalog = {
    specVersion: '1.0',
    entries,
    ...(host && { host }),
    ...(extensions && { extensions }),
  }
  const faults = [
    ...entries.flatMap((entry, at) => entryFaults(entry, entries.slice(0, at), development)),
    ...[catalog, ...entries]
      .flatMap((catalogOrEntry) => Object.keys(catalogOrEntry.extensions ?? {}))
      .filter((key) => !EXTENSION_KEY.test(key))
      .map((key) => `"${key}" must be a URL or a reversed domain`),
  ]
  requireValid('The catalog', faults)
  // Checks all values, however deep
  JSON.stringify(catalog, requireUnambiguous)
  return catalog
}

function entryOf(card: ServerCard, domain: string | undefined): CatalogEntry {
  const [namespace = '', name = ''] = card.name.split('/')
  const publisher = domain ?? namespace.split('.').toReversed().join('.')
  const entry = { identifier: `urn:air:${publisher}:mcp:${name}`, type: CARD_TYPE }
  const url = cardUrlOf(card)
  return url === undefined ? { ...entry, data: card } : { ...entry, url }
}

function entryFaults(
  entry: CatalogEntry,
  earlier: readonly CatalogEntry[],
  development: boolean,
): string[] {
  const { identifier, version } = entry
  // Entries with one identifier are versions of one server
  const isDuplicate = earlier.some((other) => {
    const isOtherVersion = version && other.version && version !== other.version
    return other.identifier === identifier && !isOtherVersion
  })
  const hasBothOrNeither = 'url' in entry === 'data' in entry
  return [
    ...(isDuplicate ? [`"${identifier}" must be unique, or have different versions`] : []),
    ...(hasBothOrNeither ? [`"${identifier}" must have "url" or "data"`] : []),
    ...('url' in entry ? publishedUrlFaults(entry.url, development) : []),
  ]
}

/** Rejects values that parsers read differently (RFC 7493), as canonical JSON (RFC 8785) requires. */
function requireUnambiguous(this: unknown, name: string, value: unknown): unknown {
  const isWellFormed = name.isWellFormed() && (typeof value !== 'string' || value.isWellFormed())
  const isExact =
    typeof value !== 'number' ||
    (Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value)))
  if (isWellFormed && isExact) return value
  throw new TypeError(`The catalog is invalid: "${name}" must have an exact form in JSON`)
}

/**
 * The value of a `Link` header that names the catalog of a page's domain.
 *
 * @example
 * ```ts
 * import { catalogLink } from 'edgewise/cards'
 *
 * export const page = new Response('<!doctype html>', {
 *   headers: { 'content-type': 'text/html', link: catalogLink() },
 * })
 * ```
 *
 * @param url The address of the catalog, which may be relative to the page.
 * @see https://github.com/Agent-Card/ai-catalog
 */
export function catalogLink(url: string = CATALOG_PATH): string {
  // Encodes quotes, angle brackets, and everything that is not printable ASCII
  return `<${url.replaceAll(/[^!#-;=?-~]/gu, encodeURIComponent)}>; rel="ai-catalog"`
}
