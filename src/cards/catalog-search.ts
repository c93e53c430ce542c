/**
 * Reads a catalog, the catalogs in it, and all their cards.
 *
 * @see https://github.com/Agent-Card/ai-catalog
 */
import { semaphore } from '../patterns/semaphore.ts'
import { SdkError, statusOf } from '../protocol/errors.ts'
import { isObject } from '../protocol/validate.ts'
import {
  newestEntries,
  requireCatalog,
  requireDigest,
  requireEntry,
  type UncheckedCatalog,
} from './catalog-entries.ts'
import {
  failure,
  fetchDocument,
  parseDocument,
  type FetchDocumentOptions,
} from './fetch-document.ts'
import { fetchCardDocument, foundCard, requireCard, type FoundCard } from './read-card.ts'
import { CARD_TYPE, CATALOG_TYPE, type CatalogEntry } from './types.ts'
import { parseUrl } from '../patterns/url.ts'

/** A failure of a whole catalog has no identifier. */
const NO_IDENTIFIER = undefined
/** A catalog inside an entry has no URL of its own. */
const NO_URL = undefined

/** A part of a catalog that could not be read. */
export interface CardFailure {
  /** The identifier of the entry, if the failure is about an entry that has an identifier. */
  readonly identifier: string | undefined
  readonly error: SdkError
}

/** The maximum depth of catalogs inside catalogs. The catalog of the domain has the depth 1. */
const MAX_DEPTH = 4
/** The maximum number of cards and catalogs that one catalog lists. */
const MAX_ENTRIES = 100
/** The maximum number of cards in one search, and the maximum number of nested catalogs. */
const MAX_CARDS = 500
const MAX_CATALOGS = 100
/** The maximum number of concurrent requests. */
const CONCURRENCY = 8

/** A catalog, and where it was found. */
interface Catalog {
  readonly content: UncheckedCatalog
  readonly url: string
  /** The depth: 1 for the catalog of the domain, 2 for a catalog inside it. */
  readonly depth: number
}

/** Reads one catalog, and the cards and catalogs that it lists. */
export class CatalogSearch {
  readonly failures: CardFailure[] = []
  readonly #domain: string
  readonly #options: FetchDocumentOptions
  readonly #limitConcurrency = semaphore(CONCURRENCY)
  /** The URLs of the catalogs that were read, before and after redirects. */
  readonly #visited = new Set<string>()
  /** The cards by endpoint, because several entries for one endpoint are one server. Other cards are their own keys. */
  readonly #cardsByEndpoint = new Map<unknown, FoundCard>()
  #cardCount = 0
  #catalogCount = 0

  constructor(domain: string, options: FetchDocumentOptions) {
    this.#domain = domain
    this.#options = options
  }

  /** The cards, in the order of the catalog. */
  get cards(): FoundCard[] {
    return [...this.#cardsByEndpoint.values()]
  }

  /**
   * Reads a catalog.
   *
   * @returns Whether the catalog exists.
   * @throws {SdkError} If it exists, but cannot be read.
   */
  async readRoot(url: string): Promise<boolean> {
    let content: UncheckedCatalog
    try {
      content = await this.#fetchCatalog(url)
    } catch (error) {
      const status = statusOf(error)
      if (status === 404 || status === 410) return false
      throw error
    }
    for (const found of await this.#readEntries({ content, url, depth: 1 })) {
      const endpoint = found.card.remotes?.find(({ type }) => type === 'streamable-http')?.url
      const key = endpoint ?? found
      if (!this.#cardsByEndpoint.has(key)) this.#cardsByEndpoint.set(key, found)
    }
    return true
  }

  async #fetchCatalog(url: string, entry?: CatalogEntry): Promise<UncheckedCatalog> {
    this.#visited.add(url)
    const types = [CATALOG_TYPE, 'application/json']
    const document = await fetchDocument({ url, types, domain: this.#domain }, this.#options)
    this.#visited.add(document.url)
    if (entry) await requireDigest(entry, document.bytes)
    return requireCatalog(parseDocument(document), document.url)
  }

  /** Reads the entries of a catalog. */
  async #readEntries(catalog: Catalog): Promise<FoundCard[]> {
    const { content, url } = catalog
    const candidates = content.entries.filter((value) => {
      const { type, mediaType = type } = isObject(value) ? value : {}
      return mediaType === undefined || mediaType === CARD_TYPE || mediaType === CATALOG_TYPE
    })
    if (candidates.length > MAX_ENTRIES) {
      const reason = `has more than ${MAX_ENTRIES} cards and catalogs`
      this.#addFailure(NO_IDENTIFIER, limitError(url, reason))
    }
    const entries = candidates.slice(0, MAX_ENTRIES).flatMap((value) => {
      try {
        return [requireEntry(value, url)]
      } catch (error) {
        this.#addFailure(isObject(value) ? value.identifier : undefined, error)
        return []
      }
    })
    const cards = newestEntries(entries).map(async (entry) => {
      try {
        if (entry.type === CARD_TYPE) return await this.#readCard(entry, catalog)
        return await this.#readNestedCatalog(entry, catalog)
      } catch (error) {
        this.#addFailure(entry.identifier, error)
        return []
      }
    })
    return (await Promise.all(cards)).flat()
  }

  async #readCard(entry: CatalogEntry, { content, url }: Catalog): Promise<FoundCard[]> {
    this.#cardCount += 1
    if (this.#cardCount > MAX_CARDS) {
      // The failure is recorded only once
      if (this.#cardCount > MAX_CARDS + 1) return []
      throw limitError(url, `and others have more than ${MAX_CARDS} cards`)
    }
    const domain = this.#domain
    const { signature } = content
    const catalogUrl = url
    if ('data' in entry) {
      await requireDigest(entry, entry)
      return [foundCard({ card: requireCard(entry.data), domain, entry, catalogUrl, signature })]
    }
    const fetchedCard = await this.#limitConcurrency(() =>
      fetchCardDocument(entry.url, domain, this.#options),
    )
    await requireDigest(entry, fetchedCard.bytes)
    return [foundCard({ ...fetchedCard, domain, entry, catalogUrl, signature })]
  }

  async #readNestedCatalog(entry: CatalogEntry, { url, depth }: Catalog): Promise<FoundCard[]> {
    if (depth === MAX_DEPTH)
      throw limitError(url, `contains catalogs to a depth of more than ${MAX_DEPTH}`)
    if ('data' in entry) {
      await requireDigest(entry, entry)
      return this.#readEntries({
        content: requireCatalog(entry.data, NO_URL),
        url,
        depth: depth + 1,
      })
    }
    const address = parseUrl(entry.url)?.href ?? entry.url
    if (this.#visited.has(address)) return []
    this.#catalogCount += 1
    if (this.#catalogCount > MAX_CATALOGS) {
      if (this.#catalogCount > MAX_CATALOGS + 1) return []
      throw limitError(url, `and others contain more than ${MAX_CATALOGS} catalogs`)
    }
    const content = await this.#limitConcurrency(() => this.#fetchCatalog(address, entry))
    return this.#readEntries({ content, url: address, depth: depth + 1 })
  }

  #addFailure(identifier: unknown, error: unknown): void {
    // If the application has aborted the search, the error does not belong to this entry only
    if (!(error instanceof SdkError) || this.#options.signal?.aborted) throw error
    this.failures.push({
      identifier: typeof identifier === 'string' ? identifier : undefined,
      error,
    })
  }
}

function limitError(url: string, reason: string): SdkError {
  return failure('LIMIT_EXCEEDED', 'limit', url, `${reason}: the rest is not read`)
}
