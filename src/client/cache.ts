/**
 * Caches results for as long as the server allows.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching
 */
import { ProtocolError } from '../protocol/errors.ts'
import { INVALID_PARAMS } from '../protocol/error-codes.ts'
import type { Result, JsonObject } from '../protocol/types.ts'
import type { Channel } from '../protocol/channel.ts'
import type { ExtensionRequest } from './extension.ts'
import type { Cache, CacheLookup } from './features.ts'
import { isWithin } from './uri-scope.ts'

/** A cached result. */
interface Entry {
  readonly method: string
  readonly uri: unknown
  /** The result as JSON, which is compact and has a known length. */
  readonly json: string
  /** When the result becomes stale, by `performance.now()`. */
  readonly staleAt: number
  /** The principal that the entry belongs to. Absent for entries that all principals share. */
  readonly principal: string | undefined
}

/** The limits of a result cache. When one is exceeded, the least recently used results are evicted. */
export interface ResultCacheOptions {
  /**
   * The maximum number of results.
   *
   * @default 256
   */
  readonly maxEntries?: number | undefined
  /**
   * The maximum total length of all results, in UTF-16 units of their JSON.
   *
   * @default 16777216
   */
  readonly maxLength?: number | undefined
}

/**
 * Sets the limits of a client's cache, which stores each result for as long as the server allows. Clients
 * of `edgewise/client` have such a cache, unless their option `cache` is `false`.
 *
 * @example
 * ```ts
 * import { connect, resultCache } from 'edgewise/client'
 *
 * const client = await connect('https://example.com/mcp', {
 *   cache: resultCache({ maxEntries: 1000 }),
 * })
 * ```
 *
 * @returns A function that creates the cache of one client, for the option `cache` of {@link connect}.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching
 */
export function resultCache({
  maxEntries = 256,
  maxLength = 16 * 1024 * 1024,
}: ResultCacheOptions = {}): () => Cache {
  return () => new ResultCache(maxEntries, maxLength)
}

/** An LRU cache, bounded by the number of its entries and by their total length. */
class ResultCache implements Cache {
  readonly #entries = new Map<string, Entry>()
  readonly #maxEntries: number
  readonly #maxLength: number
  /** The number of removals so far. A response that was in flight during a removal may be stale. */
  #removals = 0

  constructor(maxEntries: number, maxLength: number) {
    this.#maxEntries = maxEntries
    this.#maxLength = maxLength
  }

  async lookup(
    { method, params, options }: ExtensionRequest,
    channel: Pick<Channel, 'principal'>,
  ): Promise<CacheLookup> {
    const removalsBefore = this.#removals
    const key = keyOf(method, params)
    const principal = (await channel.principal?.()) ?? ''
    return {
      result: options.cache === 'reload' ? undefined : this.#get(key, principal),
      store: (result) => {
        const { ttlMs, cacheScope } = result
        if ('requestState' in params || 'inputResponses' in params) return
        const isCacheable = typeof ttlMs === 'number' && ttlMs > 0
        if (!isCacheable || removalsBefore !== this.#removals) return
        this.#set(key, {
          method,
          uri: params.uri,
          json: JSON.stringify(result),
          staleAt: performance.now() + ttlMs,
          principal: cacheScope === 'public' ? undefined : principal,
        })
      },
    }
  }

  #get(key: string, principal: string): Result | undefined {
    const entry = this.#entries.get(key)
    if (!entry || performance.now() >= entry.staleAt) return undefined
    // An entry without a principal is public
    if ((entry.principal ?? principal) !== principal) return undefined
    // Map entries are in insertion order: reinserting one marks it as the most recently used
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return JSON.parse(entry.json) as Result
  }

  #set(key: string, entry: Entry): void {
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    let count = 0
    let length = 0
    // From the newest to the oldest, so that the oldest entries are removed
    for (const [entryKey, { json }] of [...this.#entries].reverse()) {
      length += json.length
      if (++count > this.#maxEntries || length > this.#maxLength) this.#entries.delete(entryKey)
    }
  }

  async readList<List>(method: string, read: () => Promise<List>): Promise<List> {
    try {
      return await read()
    } catch (error) {
      // A cached page may contain a cursor that the server no longer accepts
      const mayBeStaleCursor = error instanceof ProtocolError && error.code === INVALID_PARAMS
      if (!mayBeStaleCursor || this.#entries.size === 0) throw error
      this.forget(method)
      return read()
    }
  }

  forget(...methods: string[]): void {
    this.#forget(({ method }) => methods.includes(method))
  }

  forgetResource(changedUri: string): void {
    this.#forget(({ uri }) => {
      return typeof uri === 'string' && (isWithin(uri, changedUri) || isWithin(changedUri, uri))
    })
  }

  #forget(isStale: (entry: Entry) => boolean): void {
    this.#removals++
    for (const [key, entry] of this.#entries) if (isStale(entry)) this.#entries.delete(key)
  }
}

/** The cache key of a request, without `_meta`, which does not change the result. */
function keyOf(method: string, { _meta, ...params }: JsonObject): string {
  return JSON.stringify([method, params])
}
