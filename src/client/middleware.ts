/**
 * Middleware of a client: code around the messages that it sends and receives. Only clients with
 * middleware or extensions load this file.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#messages
 */
import type { JsonObject, Result } from '../protocol/types.ts'
import type { ClientMiddleware, ExtensionTarget, PassMessage, WrapMessage } from './extension.ts'
import type { RequestOptions } from './request-options.ts'

/**
 * Creates middleware for a client. The middleware wraps the requests that the client sends. If `client.use`
 * names a method, the middleware wraps the messages of that method, in both directions.
 *
 * @example
 * ```ts
 * import { connect, middleware } from 'edgewise/client'
 *
 * await using client = await connect('https://example.com/mcp')
 * client.use(
 *   'tools/call',
 *   middleware(async ({ params }, _ctx, next) => {
 *     const result = await next()
 *     console.log(params.name, result.isError ?? false)
 *     return result
 *   }),
 * )
 * ```
 */
export function middleware<Method extends string = string>(
  run: WrapMessage<Method>,
): ClientMiddleware<Method>
// The types of the messages depend on the method with which the middleware is added
export function middleware(run: WrapMessage): ClientMiddleware {
  return {
    attach(connection, onlyMethod) {
      addLayer(connection, (message, ctx, last) => {
        const { method, params = {} } = message
        // Without a method, the middleware wraps only the client's own requests
        const isWrapped =
          typeof onlyMethod === 'string'
            ? onlyMethod === '*' || onlyMethod === method
            : ctx.options && !ctx.incoming
        if (!isWrapped) return last(message)
        const next = async (newParams?: JsonObject, options?: RequestOptions): Promise<Result> =>
          (await last({
            ...message,
            ...(newParams && { params: newParams }),
            ...(options && { options }),
          })) ?? {}
        return run({ method, params }, ctx, next)
      })
    },
  }
}

/** Adds an innermost layer to the middleware of a connection. */
export function addLayer(connection: ExtensionTarget, layer: PassMessage): void {
  const outer = connection.pass
  connection.pass = (message, ctx, last) =>
    outer(message, ctx, (passed) => layer(passed, ctx, last))
}
