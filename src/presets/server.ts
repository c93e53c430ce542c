/**
 * Servers, and how to serve them over HTTP and other transports.
 *
 * @module
 */
import { openGateway, type Gateway, type GatewayOptions } from '../gateway/gateway.ts'
import type { Connector } from '../gateway/upstreams.ts'
import type { OptionNames } from '../patterns/known-options.ts'
import { degradeResult } from '../protocol/degrade.ts'
import type { Implementation } from '../protocol/types.ts'
import { defineServer, type Method, type ServerDefinition } from '../server/definition.ts'
import { createFacade } from '../server/facade.ts'
import { multiRoundTripInput } from '../server/engine/multi-round-trip.ts'
import { declareCapabilities } from '../server/features/capabilities.ts'
import { complete } from '../server/features/completion.ts'
import { discover } from '../server/features/discover.ts'
import { listMethod } from '../server/features/lists.ts'
import { getPrompt, promptEntry } from '../server/features/prompts.ts'
import { resourceTemplateEntry } from '../server/features/resource-templates.ts'
import { readResource, resourceEntry } from '../server/features/resources.ts'
import { listen } from '../server/features/subscriptions.ts'
import { callTool } from '../server/features/tools.ts'
import { createNotifier } from '../server/notifier.ts'
import type { BaseServer, BaseServerOptions, Server, ServerOptions } from '../server/server.ts'
import { headerParams } from '../transport/streamable-http/param-headers.ts'

/** The names of the options that the tiny server does not have. The values have no meaning. */
const OPTION_NAMES: OptionNames<Omit<ServerOptions, keyof BaseServerOptions>> = {
  observe: 1,
  redact: 1,
  maxLogsPerSecond: 1,
}

/**
 * Creates a server. Register its tools, resources and prompts, and then serve it with
 * `createHandler`, a Worker, over stdio and so on.
 *
 * @example
 * ```ts
 * import { createHandler, createServer } from 'edgewise/server'
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
  const { observe, redact, maxLogsPerSecond = 1000 } = options
  if (observe && !observe.start) throw new TypeError('"observe" must be serverObserver(fn)')
  const methods = new Map<string, Method>([
    ['ping', () => ({})],
    ['server/discover', discover],
    ['tools/list', listMethod('tools')],
    ['tools/call', callTool],
    ['resources/list', listMethod('resources')],
    ['resources/templates/list', listMethod('resourceTemplates')],
    ['resources/read', readResource],
    ['prompts/list', listMethod('prompts')],
    ['prompts/get', getPrompt],
    ['subscriptions/listen', listen],
    ['completion/complete', complete],
  ])
  // Never called before `definition` is assigned
  const report = (error: unknown): void => definition.report(error)
  const notify = createNotifier(report)
  const logRules = { redact, maxLogsPerSecond, report }
  const features = {
    methods,
    input: multiRoundTripInput,
    headerParams,
    degradeResult,
    notify,
    logs: logRules,
    declare: declareCapabilities,
    // Observers receive redacted data too
    observe: observe?.start(logRules),
  }
  const definition: ServerDefinition = defineServer(info, options, features, OPTION_NAMES)
  const { resources, resourceTemplates, prompts } = definition
  const server: Server = createFacade<Omit<Server, keyof BaseServer>>(definition, {
    notify,
    resource(uri, options, read) {
      const registration = resources.add(uri, resourceEntry(uri, options, read))
      return {
        ...registration,
        update: (...replacement) => registration.replace(resourceEntry(uri, ...replacement)),
      }
    },
    resourceTemplate(template, options, read) {
      const entry = resourceTemplateEntry(template, options, read)
      const registration = resourceTemplates.add(template.source, entry)
      return {
        ...registration,
        update: (...replacement) =>
          registration.replace(resourceTemplateEntry(template, ...replacement)),
      }
    },
    prompt(name, options, handler) {
      const registration = prompts.add(name, promptEntry(name, options, handler))
      return {
        ...registration,
        update: (...replacement) => registration.replace(promptEntry(name, ...replacement)),
      }
    },
    // The extension and the source contain the implementation, so that servers without extensions or mounts
    // do not load it
    extend: (extension) => extension.addTo(server),
    mount: (prefix, source) => source.mountOn(server, prefix),
  })
  // `Env` is the type of `ctx.env`, which the server only passes on
  return server as Server<Env>
}

/**
 * Connects to an upstream server and creates a server that offers the same features, in every
 * revision and over every transport. Apart from that, this function works like {@link fromClient}.
 *
 * @example
 * ```ts
 * import { connect } from 'edgewise/client'
 * import { createGateway, createHandler } from 'edgewise/server'
 *
 * const gateway = await createGateway((options) => connect('https://example.com/mcp', options))
 * export const handle = createHandler(gateway.server)
 * ```
 *
 * @throws {SdkError} If connecting or listing fails, such as `NETWORK` or `UNAUTHORIZED`.
 * @throws {ProtocolError} The error response of the upstream server.
 * @throws {TypeError} If an option is unknown or invalid.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/architecture
 */
export function createGateway(connect: Connector, options: GatewayOptions = {}): Promise<Gateway> {
  return openGateway(createServer, connect, options)
}

export type {
  Middleware,
  MountSource,
  Server,
  ServerExtension,
  ServerOptions,
} from '../server/server.ts'
export type { Context } from '../server/request/context.ts'
export { fromClient, type Gateway } from '../gateway/gateway.ts'
export { fromServer, type Mount } from '../server/composition/mount.ts'
export type { Caller, Viewer } from '../server/request/exchange.ts'
export { authenticate, type Authenticator } from '../server/auth.ts'
export { listExtensions, serverExtension } from '../server/composition/custom-extension.ts'
export type { ElicitFormOptions } from '../server/request/elicitation.ts'
export { serverObserver, type ServerObserver } from '../server/observer.ts'
export type { Observation, Observer, Operation, Outcome } from '../protocol/observation.ts'
export { rateLimit } from '../server/middleware/rate-limit.ts'
export type { RateLimitStore, RateWindow } from '../server/middleware/rate-limit-store.ts'
export { responseCache } from '../server/middleware/response-cache.ts'
export { timeout } from '../server/middleware/timeout.ts'
export { messageMiddleware } from '../server/middleware/message-middleware.ts'
export { warnOnUnsafeReplay } from '../server/middleware/unsafe-replay.ts'
export { text } from '../protocol/content.ts'
export {
  audio,
  embedded,
  image,
  json,
  resourceLink,
  toolError,
  type Content,
  type ToolFailure,
} from '../server/features/results.ts'
export { pagesOf } from '../server/features/pagination.ts'
export { uriTemplate } from '../server/features/uri-template.ts'
export { createTickets } from '../server/features/tickets.ts'
export { serveTransport } from '../server/serve-transport.ts'
export {
  createHandler,
  type Handler,
  type HandlerOptions,
} from '../transport/streamable-http/handler.ts'
export { createSseHandler } from '../transport/http-sse/server.ts'
export type { EventStore, OpenStream, ResumableCall, Sink } from '../session/event-store.ts'
export { statefulSessions } from '../transport/streamable-http/sessions/stateful.ts'
export { createMemorySessionStore, type SessionStore } from '../session/store.ts'
export { resumableCalls } from '../session/resumable-calls.ts'
export { sealedSessions } from '../transport/streamable-http/sessions/sealed.ts'
export type { SessionRecord } from '../session/session.ts'
export { ProtocolError, ToolError, UrlElicitationRequired } from '../protocol/errors.ts'
export type { UrlElicitation } from '../protocol/types.ts'
export type { Tickets } from '../server/features/tickets.ts'
export type { PromptRegistration } from '../server/features/prompts.ts'
export type {
  ResourceOptions,
  ResourceRegistration,
  ResourceTemplateOptions,
} from '../server/features/resources.ts'
export type { ToolHandlerFor, ToolOptions, ToolRegistration } from '../server/features/tools.ts'
export type { Notifier } from '../server/notifier.ts'
export type { SessionProvider } from '../transport/streamable-http/sessions/manager.ts'
