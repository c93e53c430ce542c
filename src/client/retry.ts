/**
 * Middleware that repeats requests after transient failures.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9110#name-idempotent-methods
 */
import { abortable, sleep } from '../patterns/abort.ts'
import { backoffMs } from '../patterns/backoff.ts'
import { requireKnown, type OptionNames } from '../patterns/known-options.ts'
import { isTransient } from '../patterns/transient.ts'
import { statusOf, type ProtocolError } from '../protocol/errors.ts'
import { methods } from '../protocol/methods.ts'
import type { JsonObject, Tool } from '../protocol/types.ts'
import type { ClientMiddleware, ExtensionTarget } from './extension.ts'
import { middleware } from './middleware.ts'
import type { RequestOptions } from './request-options.ts'

/** Options of {@link retry}. All are optional. */
export interface RetryOptions {
  /**
   * The maximum number of times that a request is sent, including the first time.
   *
   * @default 3
   */
  readonly maxAttempts?: number
  /**
   * The delay before the second attempt, in milliseconds. It doubles before each further attempt. A random
   * part, up to a quarter of the delay, is added each time.
   *
   * @default 1000
   */
  readonly firstDelayMs?: number
  /**
   * The maximum delay, in milliseconds, even if the server asks for a longer one. The random part is added
   * to it.
   *
   * @default 60000
   */
  readonly maxDelayMs?: number
  /**
   * Whether to repeat a request that was refused with 429 even if the server does not say how long to wait.
   *
   * @default false
   */
  readonly retryOn429?: boolean
  /**
   * Whether a request may be sent twice. By default, every request of the core protocol may be sent twice,
   * except `tools/call` of a tool whose annotations have neither `readOnlyHint` nor `idempotentHint`. If
   * the tool was not listed yet, its annotations are requested with `tools/list`, once and within the
   * timeouts of the call.
   */
  readonly isIdempotent?: (request: {
    readonly method: string
    readonly params: JsonObject
  }) => boolean | Promise<boolean>
}

/** The names of the options. The values have no meaning. */
const OPTION_NAMES: OptionNames<RetryOptions> = {
  maxAttempts: 1,
  firstDelayMs: 1,
  maxDelayMs: 1,
  retryOn429: 1,
  isIdempotent: 1,
}

/** The total timeout of a request, in milliseconds, if neither the request nor the client sets one. */
const MAX_TIMEOUT_MS = 600_000

/** The options objects of the requests for annotations. Requests with these options are not repeated. */
const lookupOptions = new WeakSet<object>()

/**
 * Creates middleware that repeats idempotent requests after transient failures: a lost connection, a
 * timeout, an HTTP status such as 503. Before each repetition, it waits as long as the error asks for, in
 * `data.retryAfterMs` or else in `Retry-After`. If the error asks for no delay, it waits with exponential
 * backoff. Aborting the request ends the wait. `maxTimeoutMs` of the request limits the total time of its
 * attempts and the waits between them.
 *
 * @example
 * ```ts
 * import { connect, retry } from 'edgewise/client'
 *
 * await using client = await connect('https://example.com/mcp')
 * client.use(retry({ maxAttempts: 5 }))
 * ```
 *
 * @throws {TypeError} If an option is unknown.
 * @see https://www.rfc-editor.org/rfc/rfc9110#name-retry-after
 */
export function retry(options: RetryOptions = {}): ClientMiddleware {
  requireKnown('retry', options, OPTION_NAMES)
  return {
    attach(connection, onlyMethod) {
      const { maxAttempts = 3, isIdempotent = idempotencyByAnnotations(connection) } = options
      const layer = middleware(async (request, { incoming, options: requestOptions }, next) => {
        if (incoming || !requestOptions || lookupOptions.has(requestOptions)) return next()
        const { signal, maxTimeoutMs = connection.options.maxTimeoutMs ?? MAX_TIMEOUT_MS } =
          requestOptions
        const endsAt = performance.now() + maxTimeoutMs
        // All attempts are one operation for observers
        return connection.request(requestOptions, async (sharedOptions) => {
          // The first attempt keeps its own timeout, which is extended while the user answers a question
          let attemptOptions = sharedOptions
          for (let failures = 0; ;) {
            try {
              // Without params, `next` sends the params of the request
              return await next(undefined, attemptOptions)
            } catch (error) {
              const delayMs = retryDelayMs(error, failures++, options)
              const remainingMs = endsAt - performance.now()
              if (failures >= maxAttempts || delayMs >= remainingMs) throw error
              const limitedOptions = { ...sharedOptions, maxTimeoutMs: remainingMs }
              const decision = Promise.resolve(isIdempotent(request, limitedOptions))
              if (!(await abortable(decision, signal))) throw error
              await sleep(delayMs, signal)
              attemptOptions = { ...sharedOptions, maxTimeoutMs: endsAt - performance.now() }
            }
          }
        })
      })
      layer.attach(connection, onlyMethod)
    },
  }
}

/** How long to wait after a failure, in milliseconds; `Infinity` if the request is not repeated. */
function retryDelayMs(
  error: unknown,
  earlierFailures: number,
  { firstDelayMs, maxDelayMs, retryOn429 }: RetryOptions,
): number {
  const { code, data, retryAfter: errorHeader } = Object(error) as ProtocolError
  const { retryAfterMs, retryAfter = errorHeader } = Object(data) as Record<string, unknown>
  const header = String(retryAfter)
  // `Date.parse` would accept forms that HTTP does not allow, and read them as dates in the past
  const headerMs = /^\d+$/.test(header)
    ? Number(header) * 1_000
    : Date.parse(header.endsWith(' GMT') ? header : '') - Date.now()
  // `NaN` if the server asks for no delay
  const waitMs = typeof retryAfterMs === 'number' ? retryAfterMs : Math.max(headerMs, 0)
  // For a first failure, `backoffMs` returns the given delay, limited to the maximum, plus a random part
  if (waitMs >= 0) return backoffMs(0, waitMs, maxDelayMs)
  const isRateLimited = [code, statusOf(error)].includes(429)
  const mayRepeat = isRateLimited ? retryOn429 : isTransient(error)
  return mayRepeat ? backoffMs(earlierFailures, firstDelayMs, maxDelayMs) : Infinity
}

/**
 * Remembers the annotations of the tools that a client lists. Returns a function that decides whether a
 * request may be sent twice, according to the protocol and to these annotations.
 */
function idempotencyByAnnotations(
  connection: ExtensionTarget,
): (
  request: { readonly method: string; readonly params: JsonObject },
  options: RequestOptions,
) => Promise<boolean> {
  const listed = new Map<unknown, Tool>()
  middleware(async ({ params }, _ctx, next) => {
    const result = await next()
    if (!params.cursor) listed.clear()
    if (Array.isArray(result.tools)) for (const tool of result.tools) listed.set(tool?.name, tool)
    return result
  }).attach(connection, 'tools/list')
  return async ({ method, params: { name } }, { signal, timeoutMs, maxTimeoutMs, background }) => {
    if (method !== 'tools/call') return methods.has(method)
    if (!listed.has(name)) {
      const listOptions = { signal, timeoutMs, maxTimeoutMs, background }
      lookupOptions.add(listOptions)
      await connection.client.listAllTools(listOptions).catch(() => {})
    }
    const { readOnlyHint, idempotentHint } = listed.get(name)?.annotations ?? {}
    return readOnlyHint === true || idempotentHint === true
  }
}
