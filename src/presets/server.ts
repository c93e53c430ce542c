/**
 * Servers: what they offer, and how they are served over HTTP and over connections.
 *
 * @module
 */
export type { Secrets } from '../patterns/sealed-state.ts'
export type { AsJson } from '../patterns/steps.ts'
export { createServer } from '../server/server.ts'
export { createLeanServer } from '../server/lean-server.ts'
export type {
  LeanServer,
  LeanServerOptions,
  Middleware,
  Server,
  ServerOptions,
} from '../server/definition.ts'
export type { Context, LeanContext } from '../server/request/context.ts'
export {
  createGateway,
  mountClient,
  type Connector,
  type Gateway,
  type GatewayLimits,
  type GatewayOptions,
} from '../gateway/gateway.ts'
export { mount, type Mount } from '../server/composition/mount.ts'
export type { Completer, Completers } from '../server/features/completion.ts'
export type {
  Auth,
  Caller,
  ClientFacts,
  Requester,
  ScopedServer,
  Viewer,
} from '../server/request/exchange.ts'
export { authenticate, type Authenticator } from '../server/auth.ts'
export { extend } from '../server/composition/extend.ts'
export type { Tell } from '../server/features/extensions.ts'
export type {
  Extension,
  ExtensionFilter,
  ExtensionMethod,
} from '../server/composition/extension.ts'
export type {
  ElicitAnswer,
  FlatForm,
  FormQuestion,
  UrlAnswer,
  UrlQuestion,
} from '../server/request/elicitation.ts'
export type { Notifier, ServerChange, Unsubscribe } from '../server/notifier.ts'
export {
  observer,
  type Observation,
  type ObservedEvent,
  type Observer,
  type RefusalEvent,
  type RequestEvent,
  type ServerObserver,
  type SessionEvent,
  type TraceContext,
  type Watch,
} from '../server/observer.ts'
export type { Redact } from '../server/request/redact.ts'
export { rateLimit, type RateLimit } from '../server/middleware/rate-limit.ts'
export type {
  PromptHandler,
  PromptOptions,
  PromptRegistration,
  PromptReturn,
  TextArguments,
} from '../server/features/prompts.ts'
export type { Registration } from '../server/registry.ts'
export { warnOfRepeats } from '../server/middleware/unsafe-replay.ts'
export type {
  ReadHandler,
  ReadRequest,
  ReadReturn,
  ResourceOptions,
  ResourceRegistration,
  ResourceTemplateOptions,
} from '../server/features/resources.ts'
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
export { createTickets, type TicketOptions, type Tickets } from '../server/features/tickets.ts'
export type { ToolResult, ToolReturn } from '../server/features/tool-result.ts'
export type { TaskSupport, ToolTask } from '../server/features/tool-task.ts'
export type {
  ToolHandler,
  ToolHandlerFor,
  ToolOptions,
  ToolRegistration,
} from '../server/features/tools.ts'
export type { InputOptions } from '../server/engine/multi-round-trip.ts'
export { serveTransport, type ConnectionOptions } from '../server/serve-transport.ts'
export { createHandler, type Handler } from '../transport/streamable-http/handler.ts'
export { createLeanHandler } from '../transport/streamable-http/lean-handler.ts'
export { createSseHandler, type SseHandlerOptions } from '../transport/http-sse/server.ts'
export type { HandlerOptions, LeanHandlerOptions } from '../transport/streamable-http/options.ts'
export { forwardedSessions } from '../transport/streamable-http/sessions/forwarded.ts'
export type {
  EventStore,
  EventStoreLimits,
  OpenStream,
  PendingCall,
  Sink,
} from '../session/event-store.ts'
export type { MemoryStoreLimits } from '../session/memory-event-store.ts'
export {
  statefulSessions,
  type StatefulSessionOptions,
} from '../transport/streamable-http/sessions/stateful.ts'
export { createMemorySessionStore, type SessionStore } from '../session/store.ts'
export { resumableCalls, type CallStore } from '../session/resumable-calls.ts'
export {
  sealedSessions,
  type SealedSessionOptions,
} from '../transport/streamable-http/sessions/sealed.ts'
export type { SessionRecord } from '../session/session.ts'
export type { SessionLimits } from '../session/pool.ts'
export {
  ProtocolError,
  ToolError,
  UrlElicitationRequired,
  type UrlElicitation,
} from '../protocol/errors.ts'
