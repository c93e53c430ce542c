/**
 * Middleware that logs the messages of a client.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#messages
 */
import type { Logger, LogRecord } from '../patterns/error-logger.ts'
import { redactSecrets } from '../patterns/redact-secrets.ts'
import { isTransient } from '../patterns/transient.ts'
import type { ClientMiddleware } from './extension.ts'
import { middleware } from './middleware.ts'

/**
 * Creates middleware that logs each request when it has ended, as one structured record: `method`, `name`
 * (of the tool or prompt) or `uri`, `durationMs`, and in `err` what it failed with. A success has the level
 * `debug`, a tool's failure and a transient failure `warn`, any other failure `error`. Arguments and results
 * are not logged, and credentials are removed. With `client.use('*', …)`, notifications and the server's
 * requests are logged too; theirs have `incoming`.
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
 * @param facts Members of each record, such as the name of the server.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#messages
 */
export function logRequests(
  logger: Pick<Logger, 'debug' | 'warn' | 'error'>,
  facts: Readonly<Record<string, unknown>> = {},
): ClientMiddleware {
  return middleware(async ({ method, params }, { incoming }, next) => {
    const { name, uri } = params
    const start = performance.now()
    const log = (level: 'debug' | 'warn' | 'error', outcome: object): void => {
      const durationMs = Math.round(performance.now() - start)
      const target = { ...(name !== undefined && { name }), ...(uri !== undefined && { uri }) }
      const direction = incoming && { incoming }
      const record = {
        msg: method,
        ...facts,
        method,
        ...target,
        ...direction,
        durationMs,
        ...outcome,
      }
      logger[level](redactSecrets(record) as LogRecord)
    }
    try {
      const result = await next()
      const { isError } = result
      log(isError === true ? 'warn' : 'debug', isError === true ? { isError } : {})
      return result
    } catch (err) {
      log(isTransient(err) ? 'warn' : 'error', { err })
      throw err
    }
  })
}
