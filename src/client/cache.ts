/**
 * Results that are kept for as long as the server allows.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/caching
 */
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { CacheHints, Result } from '../protocol/types.ts'

interface Entry {
  readonly result: Result
  readonly staleAt: number
  /** Whose entry it is; nobody's in particular when absent. */
  readonly principal: string | undefined
  readonly uri: unknown
}

/** Bounded; the entry that was used least recently goes first. */
export class ResultCache {
  readonly #entries = new Map<string, Entry>()
  readonly #limit: number

  /** @param limit How many results to keep; 0 keeps none. */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** Whether there is anything to find. */
  get empty(): boolean {
    return this.#entries.size === 0
  }

  /** A fresh result, as a copy that may be changed. */
  get(method: string, params: JsonObject, principal: string): Result | undefined {
    const key = keyOf(method, params)
    const entry = this.#entries.get(key)
    if (!entry) return undefined
    if (performance.now() >= entry.staleAt) {
      this.#entries.delete(key)
      return undefined
    }
    if (entry.principal !== undefined && entry.principal !== principal) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return structuredClone(entry.result)
  }

  /** Keeps a result if its hints allow. What is not marked as public is the principal's own. */
  set(method: string, params: JsonObject, result: Result & CacheHints, principal: string): void {
    const { ttlMs, cacheScope } = result
    if (typeof ttlMs !== 'number' || !(ttlMs > 0) || this.#limit <= 0) return
    const key = keyOf(method, params)
    this.#entries.delete(key)
    this.#entries.set(key, {
      result: structuredClone(result),
      staleAt: performance.now() + ttlMs,
      principal: cacheScope === 'public' ? undefined : principal,
      uri: params.uri,
    })
    const [oldest] = this.#entries.keys()
    if (this.#entries.size > this.#limit && oldest !== undefined) this.#entries.delete(oldest)
  }

  /** Forgets every result of some methods. */
  forget(...methods: string[]): void {
    for (const key of this.#entries.keys()) {
      if (methods.some((method) => key.startsWith(`${method} `))) this.#entries.delete(key)
    }
  }

  /** Forgets what was read of a resource, of those inside it, and of those that it is inside. */
  forgetResource(uri: string): void {
    for (const [key, entry] of this.#entries) {
      if (typeof entry.uri === 'string' && (within(entry.uri, uri) || within(uri, entry.uri))) {
        this.#entries.delete(key)
      }
    }
  }

  /** Forgets everything. */
  clear(): void {
    this.#entries.clear()
  }
}

/** The key of a request; `_meta` does not change what is asked. */
function keyOf(method: string, params: JsonObject): string {
  const { _meta, ...asked } = params
  const names = Object.keys(asked).sort()
  return `${method} ${JSON.stringify(names.map((name) => [name, asked[name]]))}`
}

/** Whether one URI is another, or lies inside it. */
function within(inner: string, outer: string): boolean {
  return inner === outer || inner.startsWith(outer.endsWith('/') ? outer : `${outer}/`)
}
