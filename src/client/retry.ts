/**
 * Middleware that repeats requests after failures that may be gone at the next attempt.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9110#name-idempotent-methods
 */
import { sleep } from '../patterns/abort.ts'
import { backoffMs } from '../patterns/backoff.ts'
import { requireKnown, type OptionNames } from '../patterns/known-options.ts'
import { isTransient } from '../patterns/transient.ts'
import { retryAfterMsOf, statusOf, type ProtocolError } from '../protocol/errors.ts'
import { methods } from '../protocol/methods.ts'
import type { JsonObject } from '../protocol/types.ts'
import { memberAt } from '../protocol/validate.ts'
import type { ClientMiddleware, ExtensionClient } from './extension.ts'
import { middleware } from './middleware.ts'
import { toolHints } from './presentation/tool-hints.ts'

/** Options of {@link retry}. All are optional. */
export interface RetryOptions {
  /**
   * How often a request is sent at most, including the first time.
   *
   * @default 3
   */
  readonly maxAttempts?: number
  /**
   * The delay before the second attempt, in milliseconds. It doubles before each further attempt, and up
   * to a quarter is added at random.
   *
   * @default 1000
   */
  readonly firstDelayMs?: number
  /**
   * The maximum delay, in milliseconds, also if the server asks for a longer one. Up to a quarter is added
   * at random.
   *
   * @default 60000
   */
  readonly maxDelayMs?: number
  /**
   * Whether to repeat a request that was refused with 429 if the server does not say how long to wait.
   *
   * @default false
   */
  readonly retryLimited?: boolean
  /**
   * Whether a request may be sent twice. By default, every request of the core protocol may, except
   * `tools/call` of a tool whose annotations have neither `readOnlyHint` nor `idempotentHint`.
   */
  readonly isIdempotent?: (request: {
    readonly method: string
    readonly params: JsonObject
  }) => boolean | Promise<boolean>
}

const OPTION_NAMES: OptionNames<RetryOptions> = {
  maxAttempts: 1,
  firstDelayMs: 1,
  maxDelayMs: 1,
  retryLimited: 1,
  isIdempotent: 1,
}

const TOO_MANY_REQUESTS = 429

/**
 * Creates middleware that repeats idempotent requests after transient failures: a lost connection, a
 * timeout, an HTTP status such as 503. It waits for as long as the error says, with `data.retryAfterMs` or
 * else `Retry-After`, and otherwise with exponential backoff. Aborting the request ends the wait.
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
  const { maxAttempts = 3 } = options
  return {
    attach(connection, pattern) {
      const { client } = connection
      const { isIdempotent = (request) => isRepeatable(request, client) } = options
      const layer = middleware(async (request, { incoming, options: requestOptions }, next) => {
        if (incoming || !requestOptions) return next()
        const { signal } = requestOptions
        for (let failures = 0; ; failures++) {
          try {
            return await next()
          } catch (error) {
            const delayMs =
              failures + 1 < maxAttempts ? delayAfter(error, failures, options) : undefined
            if (delayMs === undefined || signal?.aborted) throw error
            if (!(await isIdempotent(request))) throw error
            await sleep(delayMs, signal)
          }
        }
      })
      layer.attach(connection, pattern)
    },
  }
}

/** How long to wait after a failure, in milliseconds; `undefined` if the request is not repeated. */
function delayAfter(
  error: unknown,
  failures: number,
  { firstDelayMs, maxDelayMs, retryLimited = false }: RetryOptions,
): number | undefined {
  const requestedMs = requestedDelayMs(error)
  // The backoff of a first failure is the given delay, at most the maximum, with a random part
  if (requestedMs !== undefined) return backoffMs(0, requestedMs, maxDelayMs)
  const { code } = error as ProtocolError
  const isLimited = code === TOO_MANY_REQUESTS || statusOf(error) === TOO_MANY_REQUESTS
  const mayRepeat = isLimited ? retryLimited : isTransient(error)
  return mayRepeat ? backoffMs(failures, firstDelayMs, maxDelayMs) : undefined
}

/** How long the server asks to wait, in milliseconds. */
function requestedDelayMs(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined
  const stated = retryAfterMsOf(error as { data?: unknown })
  if (stated !== undefined && stated >= 0) return stated
  const header = memberAt(error, ['data', 'retryAfter'])
  if (typeof header !== 'string') return undefined
  const delayMs = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now()
  return Number.isNaN(delayMs) ? undefined : Math.max(delayMs, 0)
}

/** Whether a request may be sent twice, as far as the protocol and the annotations of tools say. */
async function isRepeatable(
  { method, params }: { readonly method: string; readonly params: JsonObject },
  client: ExtensionClient,
): Promise<boolean> {
  if (method !== 'tools/call') return methods.has(method)
  const tools = await client.listAllTools().catch(() => [])
  const tool = tools.find(({ name }) => name === params.name)
  const { readOnlyHint, idempotentHint } = toolHints(tool ?? {})
  return readOnlyHint || idempotentHint
}
