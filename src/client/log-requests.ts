/**
 * Middleware that logs the messages of a client.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#messages
 */
import type { Logger } from '../patterns/error-logger.ts'
import { callHook } from '../patterns/hooks.ts'
import { redactText } from '../patterns/redact-text.ts'
import { isTransient } from '../patterns/transient.ts'
import type { SdkError } from '../protocol/errors.ts'
import type { ClientMiddleware } from './extension.ts'
import { middleware } from './middleware.ts'

/**
 * Creates middleware that logs each request when it has ended, as one structured record: `method`, `name`
 * (of the tool or prompt) or `uri`, `durationMs`, and in `err` the name, code and message of its error.
 * Successes are logged at the level `debug`. Results with `isError` and transient errors are logged at
 * `warn`, and all other errors at `error`. Arguments and results are not logged, and credentials are removed.
 * With `client.use('*', …)`, notifications and messages from the server are logged too. The records of messages from
 * the server have `incoming: true`.
 *
 * @example
 * ```ts
 * import { connect, logRequests } from 'edgewise/client'
 *
 * await using client = await connect('https://example.com/mcp')
 * client.use(logRequests(console))
 * ```
 *
 * @param logger `console`, pino, LogTape or similar.
 * @param facts Members to add to each record, such as the name of the server.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#messages
 */
export function logRequests(
  logger: Pick<Logger, 'debug' | 'warn' | 'error'>,
  facts: Readonly<Record<string, unknown>> = {},
): ClientMiddleware {
  return middleware(async ({ method, params }, { incoming }, next) => {
    const { name, uri } = params
    const start = performance.now()
    const log = (level: 'debug' | 'warn' | 'error', outcome: object | false): void => {
      const record = {
        msg: method,
        ...facts,
        method,
        ...(typeof name === 'string' && { name: redactText(name) }),
        ...(typeof uri === 'string' && { uri: redactText(uri) }),
        ...(incoming && { incoming }),
        durationMs: Math.round(performance.now() - start),
        ...outcome,
      }
      // A logger that fails must not fail the request
      callHook(() => logger[level](record))
    }
    try {
      const result = await next()
      const isError = result.isError === true
      log(isError ? 'warn' : 'debug', isError && { isError })
      return result
    } catch (error) {
      const { name: kind, code, message } = Object(error) as SdkError
      const err = { name: kind, code, message: redactText(String(message)) }
      log(isTransient(error) ? 'warn' : 'error', { err })
      throw error
    }
  })
}
