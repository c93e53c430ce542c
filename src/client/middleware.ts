/**
 * Middleware of a client: code around the messages that it sends and receives.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#messages
 */
import type { Awaitable } from '../patterns/awaitable.ts'
import type { JsonObject, Result } from '../protocol/types.ts'
import type { ExtensionTarget } from './extension.ts'
import type { RequestOptions } from './request-options.ts'

/** The context of a message that passes through a client's middleware. */
export interface ClientContext {
  /** Whether the server sends the message. Otherwise the client sends it. */
  readonly incoming?: boolean
  /**
   * The options of the client's request, such as its `signal`. For a request of the server, the options
   * of the client's request that it belongs to, if that is known, and the `signal` that aborts when the
   * answer is no longer needed. Absent for notifications.
   */
  readonly options?: RequestOptions
}

/** A message that passes through middleware. */
interface PassedMessage {
  readonly method: string
  readonly params?: JsonObject
}

/**
 * Wraps the handling of a message: calls `next` to continue, with other params if it passes any, or
 * returns a result itself. Notifications have no result: a middleware that does not call `next` holds the
 * notification back, and what it returns is ignored.
 */
export type WrapMessage = (
  message: Required<PassedMessage>,
  ctx: ClientContext,
  next: (params?: JsonObject) => Promise<Result>,
) => Awaitable<Result>

/**
 * Passes a message through all middleware.
 *
 * @param last Handles the message after the innermost middleware.
 */
export type PassMessage = <Message extends PassedMessage>(
  message: Message,
  ctx: ClientContext,
  last: (message: Message) => Awaitable<Result | void>,
) => Awaitable<Result | void>

/** Middleware for `client.use`, and for the option `extensions` of `connect`. See {@link middleware}. */
export interface ClientMiddleware {
  /**
   * Adds the middleware. Called by `client.use` and `connect`.
   *
   * @param pattern The only method whose messages pass through the middleware, or `*` for every message.
   *   By default, the client's requests do.
   */
  attach(connection: ExtensionTarget, pattern?: unknown): void
}

/**
 * Creates middleware for a client, which wraps the requests that the client sends, or with a method in
 * `client.use`, the messages of that method in both directions.
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
export function middleware(run: WrapMessage): ClientMiddleware {
  return {
    attach(connection, pattern) {
      addLayer(connection, (message, ctx, last) => {
        const { method, params = {} } = message
        const isFor =
          typeof pattern === 'string'
            ? pattern === '*' || pattern === method
            : ctx.options && !ctx.incoming
        if (!isFor) return last(message)
        const next = async (changed = message.params): Promise<Result> =>
          (await last(changed ? { ...message, params: changed } : message)) ?? {}
        return run({ method, params }, ctx, next)
      })
    },
  }
}

/** Adds code inside the middleware that messages already pass through. */
export function addLayer(connection: ExtensionTarget, layer: PassMessage): void {
  const outer = connection.pass
  connection.pass = (message, ctx, last) =>
    outer(message, ctx, (passed) => layer(passed, ctx, last))
}
