/**
 * Middleware that answers repeated requests from a cache.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching
 */
import { boundedCache } from '../../patterns/bounded-cache.ts'
import { canonicalJson } from '../../patterns/canonical-json.ts'
import { requireKnown, type OptionNames } from '../../patterns/known-options.ts'
import type { JsonObject, Result } from '../../protocol/types.ts'
import type { ServerDefinition } from '../definition.ts'
import { unverifiedDefinitionOf } from '../definition-of.ts'
import type { BaseContext } from '../request/context.ts'
import type { BaseServer, MiddlewareLayer } from '../server.ts'
import { byPrincipal } from './rate-limit-store.ts'

/** Options of {@link responseCache}. */
export interface ResponseCacheOptions {
  /** How long a result is cached, in milliseconds. */
  readonly ttlMs: number
  /**
   * The maximum number of results. Beyond it, the oldest results are evicted.
   *
   * @default 1000
   */
  readonly maxEntries?: number
  /**
   * The key of the callers that share results. By default, the key is the principal, so that no caller receives
   * what belongs to another one. All callers without a principal share results. If the results of a handler
   * depend on `_meta` or the HTTP request, the key must contain what they depend on.
   */
  readonly keyOf?: (ctx: BaseContext) => string
}

/** The names of the options. The values have no meaning. */
const OPTION_NAMES: OptionNames<ResponseCacheOptions> = { ttlMs: 1, maxEntries: 1, keyOf: 1 }

/**
 * Creates middleware that answers repeated requests from a cache in the memory of one isolate:
 * `resources/read`, `prompts/get`, and calls of tools whose annotations have `readOnlyHint`. Only
 * complete results without `isError` are stored. Requests share a result only if they have the same params,
 * the same key of the caller, the same capabilities of the client and the same protocol revision. A change of
 * tools, resources or prompts that is announced in the same isolate discards all results. If a
 * request is answered from the cache, its handler does not run, so it neither asks for input nor
 * sends notifications.
 *
 * @example
 * ```ts
 * import { createServer, responseCache } from 'edgewise/server'
 *
 * const server = createServer({ name: 'travel', version: '1.0.0' })
 * server.use('tools/call', responseCache({ ttlMs: 60_000 }))
 * ```
 *
 * @throws {TypeError} If an option is unknown, or `ttlMs` is not a positive number.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching
 */
export function responseCache(options: ResponseCacheOptions): MiddlewareLayer {
  requireKnown('The response cache', options, OPTION_NAMES)
  const { ttlMs, maxEntries = 1_000, keyOf = byPrincipal } = options
  const isPositive = ttlMs > 0
  if (!isPositive) throw new TypeError('"ttlMs" must be a positive number')
  return {
    addTo(server, method) {
      const definition = unverifiedDefinitionOf(server as BaseServer)
      // Each server has its own results
      let results = boundedCache<string, string>(maxEntries)
      definition.notify?.subscribe(() => {
        results = boundedCache(maxEntries)
      })
      definition.middleware.push({
        method,
        async run(request, ctx, next) {
          const { params } = request
          const hasInput = 'inputResponses' in params || 'requestState' in params
          if (hasInput || !isCacheable(definition, request, ctx)) return next()
          const { _meta: _, ...others } = params
          const { capabilities } = ctx.client
          const key = canonicalJson([
            request.method,
            ctx.revision,
            keyOf(ctx),
            others,
            capabilities,
          ])
          // A change replaces `results` while the handler runs. The result may predate the change,
          // so it must not be stored in the new cache
          const resultsAtStart = results
          const cached = resultsAtStart.get(key)
          if (cached) return JSON.parse(cached) as Result
          const result = await next()
          // A task has no contents yet, and a malformed result would fail each time it is repeated
          const isComplete =
            (result.resultType ?? 'complete') === 'complete' &&
            Array.isArray(result.content ?? result.contents ?? result.messages)
          if (isComplete && result.isError !== true) {
            resultsAtStart.set(key, JSON.stringify(result), performance.now() + ttlMs)
          }
          return result
        },
      })
    },
  }
}

/** Whether the result of a request may be cached, and the caller may see the item that the request names. */
function isCacheable(
  { tools, resources, resourceTemplates, prompts }: ServerDefinition,
  { method, params }: { readonly method: string; readonly params: JsonObject },
  ctx: BaseContext,
): boolean {
  const name = params.name ?? params.uri
  if (typeof name !== 'string') return false
  if (method === 'tools/call') return tools.find(name, ctx)?.item.annotations?.readOnlyHint === true
  if (method === 'prompts/get') return prompts.find(name, ctx) !== undefined
  if (method !== 'resources/read') return false
  // The resources of templates are cached only if no template is hidden from some callers
  const isListed = resources.entries().has(name)
  return isListed ? resources.find(name, ctx) !== undefined : !resourceTemplates.restricted
}
