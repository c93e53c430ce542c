/**
 * Smaller servers, which answer calls: tools, resources and prompts, in every revision. They neither
 * ask clients nor notify them of changes. Whatever `edgewise/server` exports under the same name does
 * the same and more, so that a server gets all the rest by a change of the import.
 *
 * @module
 */
import type { Implementation } from '../protocol/types.ts'
import { defineServer, type Method } from '../server/definition.ts'
import { createFacade } from '../server/facade.ts'
import { withoutInput } from '../server/engine/without-input.ts'
import { discover } from '../server/features/discover.ts'
import { lister } from '../server/features/lists.ts'
import { getPrompt } from '../server/features/prompts.ts'
import { readResource } from '../server/features/resources.ts'
import { callTool } from '../server/features/tools.ts'
import type { BaseContext as Context } from '../server/request/context.ts'
import type {
  BaseServer as Server,
  BaseServerOptions as ServerOptions,
  Middleware as AnyMiddleware,
} from '../server/server.ts'
import { TinyRequestContext } from '../server/request/tiny-request-context.ts'
import { refuseMembers } from '../server/request/unavailable.ts'

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
export { rateLimit } from '../server/middleware/rate-limit.ts'
export type { Caller, Viewer } from '../server/request/exchange.ts'
export {
  createHandler,
  type Handler,
  type HandlerOptions,
} from '../transport/streamable-http/handler.ts'

/** Wraps the answering of requests; calls `next` to go on, or answers itself. */
export type Middleware<Env = unknown> = AnyMiddleware<Env, Context<Env>>

/** The members of a full context that this one lacks: using them throws, with what to import. */
const CONTEXT_LACKS = ['log', 'elicit', 'elicitUrl', 'sample', 'roots', 'disconnect', 'step']

/**
 * Makes a smaller server, which answers calls: tools, resources and prompts, in every revision. It
 * neither asks clients nor notifies them of changes, has no resource templates, and completes and
 * observes nothing; and nothing that does so is loaded. It can be served by whatever serves those of
 * `edgewise/server`.
 *
 * @example
 * ```ts
 * const server = createServer({ name: 'travel', version: '1.0.0' })
 * server.tool('greet', { input: z.object({ name: z.string() }) }, ({ name }) => `Hello, ${name}`)
 * const handle = createHandler(server)
 * ```
 *
 * @typeParam Env What handlers find as `ctx.env`: what the host gives as the caller's environment,
 *   such as a Worker's bindings.
 * @param info The server's name and version, which clients see.
 * @throws {TypeError} if `info` has no name or version, or an option is unknown or wrong.
 */
export function createServer<Env = unknown>(
  info: Implementation,
  options: ServerOptions = {},
): Server<Env> {
  const methods = new Map<string, Method>([
    ['ping', () => ({})],
    ['server/discover', discover],
    ['tools/list', lister('tools')],
    ['tools/call', callTool],
    ['resources/list', lister('resources')],
    ['resources/templates/list', lister('resourceTemplates')],
    ['resources/read', readResource],
    ['prompts/list', lister('prompts')],
    ['prompts/get', getPrompt],
  ])
  const optionHint = ' ("edgewise/server" has more)'
  const definition = defineServer(info, options, { methods, input: withoutInput, optionHint })
  const server: Server = createFacade(definition, {})
  refuseMembers(server, 'server', ['notify', 'resourceTemplate', 'extend', 'mount'])
  refuseMembers(TinyRequestContext.prototype, 'ctx', CONTEXT_LACKS)
  // The author says what the host gives as the environment
  return server as Server<Env>
}
export type { PromptRegistration } from '../server/features/prompts.ts'
export type { ResourceOptions, ResourceRegistration } from '../server/features/resources.ts'
export type { ToolHandlerFor, ToolOptions, ToolRegistration } from '../server/features/tools.ts'
