/**
 * Reads server cards.
 *
 * @see https://github.com/modelcontextprotocol/experimental-ext-server-card/blob/main/docs/discovery.md#mcp-server-cards
 */
import { isObject } from '../protocol/validate.ts'
import { CARD } from './card-shape.ts'
import {
  failure,
  fetchDocument,
  parseDocument,
  type FetchDocumentOptions,
} from './fetch-document.ts'
import { faultsOf } from './shape.ts'
import { CARD_SCHEMA, CARD_TYPE, type CatalogEntry, type ServerCard } from './types.ts'
import { parseUrl } from '../patterns/url.ts'

/** The media types that are accepted for cards. */
export const CARD_TYPES: readonly string[] = [CARD_TYPE, 'application/json']

/**
 * A card that was found. Everything in it is a claim of its publisher: show its texts as text, and do
 * not base decisions about security on them.
 */
export interface FoundCard {
  readonly card: ServerCard
  /** The domain that you asked for. */
  readonly domain: string
  /** The name to show: the catalog's name for the card, the card's title, or the end of the identifier. */
  readonly displayName: string
  /** The description in the catalog or in the card. */
  readonly description: string | undefined
  /** The version in the catalog or in the card. */
  readonly version: string
  /** The host and port of the catalog that lists the card. Absent if no catalog lists the card. */
  readonly catalogHost: string | undefined
  /** The host and port that the card came from. */
  readonly cardHost: string | undefined
  /** The entry of the catalog, including its trust manifests, which nothing has verified. */
  readonly unverifiedEntry: CatalogEntry | undefined
  /** The signature of the catalog, which nothing has verified. */
  readonly unverifiedSignature: unknown
  /** The members in which the entry and the card differ. */
  readonly differences: readonly string[]
}

/**
 * Fetches a card from its address.
 *
 * @example
 * ```ts
 * import { chooseRemote, fetchCard } from 'edgewise/cards'
 * import { connect } from 'edgewise/client'
 *
 * const found = await fetchCard('https://example.com/mcp/server-card')
 * const { url, headers } = await chooseRemote(found)
 * await using client = await connect(url, { headers })
 * ```
 *
 * @throws {SdkError} `DENIED` if the address may not be used; `NETWORK`, `TIMEOUT` or `HTTP` if there
 *   is no card; `LIMIT_EXCEEDED` if it is too large; `INVALID_MESSAGE` if it is not a card.
 *   `data.step` names the failed step.
 * @see https://github.com/modelcontextprotocol/experimental-ext-server-card/blob/main/docs/discovery.md#hosted-server-card-location
 */
export async function fetchCard(
  url: string | URL,
  options: FetchDocumentOptions = {},
): Promise<FoundCard> {
  const address = String(url)
  const domain = parseUrl(address)?.hostname ?? address
  return foundCard({ domain, ...(await fetchCardDocument(address, domain, options)) })
}

/** A card and its address. */
export interface CardAtUrl {
  readonly card: ServerCard
  readonly url: string
  readonly bytes: Uint8Array<ArrayBuffer>
}

/**
 * Fetches a card, and checks it.
 *
 * @param domain The domain that the application asked for.
 * @throws {SdkError} The errors of {@link fetchCard}.
 */
export async function fetchCardDocument(
  url: string,
  domain: string,
  options: FetchDocumentOptions,
): Promise<CardAtUrl> {
  const document = await fetchDocument({ url, domain, types: CARD_TYPES }, options)
  return { ...document, card: requireCard(parseDocument(document), document.url) }
}

/**
 * Checks that a value is a card of a supported version.
 *
 * @throws {SdkError} `INVALID_MESSAGE`, with `card` as `data.step`. The message names the invalid members.
 */
export function requireCard(value: unknown, url?: string): ServerCard {
  const schema = isObject(value) ? (value.$schema ?? CARD_SCHEMA) : CARD_SCHEMA
  const faults = faultsOf(value, CARD)
  if (schema !== CARD_SCHEMA) faults.unshift(`"$schema" must be "${CARD_SCHEMA}"`)
  if (faults.length === 0) return value as ServerCard
  throw failure('INVALID_MESSAGE', 'card', url, `is not a server card: ${faults.join('; ')}`)
}

/** Where a card was found. */
interface Listing {
  readonly card: ServerCard
  readonly domain: string
  /** The address of the card. Absent if the catalog contains it. */
  readonly url?: string
  readonly entry?: CatalogEntry
  readonly catalogUrl?: string
  readonly signature?: unknown
}

/** Describes a card for the application. */
export function foundCard({ card, domain, url, entry, catalogUrl, signature }: Listing): FoundCard {
  const comparedMembers = ['version', 'description'] as const
  const sourceUrl = url ?? catalogUrl
  return {
    card,
    domain,
    displayName: entry?.displayName ?? card.title ?? lastPart(entry?.identifier ?? card.name),
    description: entry?.description ?? card.description,
    version: entry?.version ?? card.version,
    catalogHost: catalogUrl && new URL(catalogUrl).host,
    cardHost: sourceUrl && new URL(sourceUrl).host,
    unverifiedEntry: entry,
    unverifiedSignature: signature,
    differences: comparedMembers.filter((name) => entry?.[name] && entry[name] !== card[name]),
  }
}

function lastPart(identifier: string): string {
  return /[^:/]*$/.exec(identifier)?.[0] || identifier
}
