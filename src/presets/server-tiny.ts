/**
 * Smaller servers that offer tools only, in every revision. They neither ask clients for input nor
 * send change notifications. `edgewise/server` exports a superset under the same names, so that
 * changing the import adds all other features.
 *
 * @module
 */
import { degradeToolsResult } from '../protocol/degrade.ts'
import type { Implementation } from '../protocol/types.ts'
import { defineServer, type Method } from '../server/definition.ts'
import { createFacade } from '../server/facade.ts'
import { withoutInput } from '../server/engine/without-input.ts'
import { discover } from '../server/features/discover.ts'
import { withoutHeaderParams } from '../server/features/header-params.ts'
import { listMethod } from '../server/features/lists.ts'
import { callTool } from '../server/features/tools.ts'
import type { BaseContext as Context } from '../server/request/context.ts'
import type {
  BaseServer as Server,
  BaseServerOptions as ServerOptions,
  Middleware as AnyMiddleware,
  Server as FullServer,
} from '../server/server.ts'
import { TinyRequestContext } from '../server/request/tiny-request-context.ts'
import { rejectMembers } from '../server/request/unavailable.ts'

export type { Context, Server, ServerOptions }
export { text } from '../protocol/content.ts'
export { ProtocolError, ToolError } from '../protocol/errors.ts'
export { authenticate, type Authenticator } from '../server/auth.ts'
export {
  audio,
  embedded,
  image,
  json,
  resourceLink,
  toolError,
  type ToolFailure,
} from '../server/features/results.ts'
export { pagesOf } from '../server/features/pagination.ts'
export type { ToolHandlerFor, ToolOptions, ToolRegistration } from '../server/features/tools.ts'
export { rateLimit } from '../server/middleware/rate-limit.ts'
export { responseCache } from '../server/middleware/response-cache.ts'
export { timeout } from '../server/middleware/timeout.ts'
export type { Caller, Viewer } from '../server/request/exchange.ts'
export {
  createHandler,
  type Handler,
  type HandlerOptions,
} from '../transport/streamable-http/handler.ts'

/** Wraps request handling; calls `next` to continue, or returns a result itself. */
export type Middleware<Env = unknown, Method extends string = string> = AnyMiddleware<
  Env,
  Context<Env>,
  Method
>

/**
 * The members of a full server that this server lacks: using them throws an error that says what to
 * import.
 */
const MISSING_SERVER_MEMBERS = [
  'notify',
  'resource',
  'resourceTemplate',
  'prompt',
  'extend',
  'mount',
] satisfies (keyof FullServer)[]

/** The members of a full context that this context lacks. */
const MISSING_CONTEXT_MEMBERS = [
  'log',
  'elicit',
  'elicitUrl',
  'sample',
  'roots',
  'disconnect',
  'step',
]

/**
 * Creates a smaller server, which offers tools only, in every revision. It has no resources and no
 * prompts, and it neither asks clients for input nor sends change notifications. The code for these
 * features is not loaded.
 *
 * @example
 * ```ts
 * import { createHandler, createServer } from 'edgewise/server/tiny'
 * import * as z from 'zod'
 *
 * const server = createServer({ name: 'travel', version: '1.0.0' })
 * server.tool('greet', { input: z.object({ name: z.string() }) }, ({ name }) => `Hello, ${name}`)
 *
 * export const handle = createHandler(server)
 * ```
 *
 * @typeParam Env The type of `ctx.env`: the environment that the platform or your program passes, such
 * as a Worker's bindings.
 * @param info The server's name and version, which clients see.
 * @throws {TypeError} If `info` has no name or version, or an option is unknown or invalid.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server
 */
export function createServer<Env = unknown>(
  info: Implementation,
  options: ServerOptions = {},
): Server<Env> {
  const methods = new Map<string, Method>([
    ['ping', () => ({})],
    ['server/discover', discover],
    ['tools/list', listMethod('tools')],
    ['tools/call', callTool],
  ])
  const definition = defineServer(info, options, {
    methods,
    input: withoutInput,
    headerParams: withoutHeaderParams,
    degradeResult: degradeToolsResult,
    optionHint: ' ("edgewise/server" has more)',
  })
  const server: Server = createFacade(definition, {})
  rejectMembers(server, 'server', MISSING_SERVER_MEMBERS)
  rejectMembers(TinyRequestContext.prototype, 'ctx', MISSING_CONTEXT_MEMBERS)
  return server
}
