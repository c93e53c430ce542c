/**
 * Servers: what they offer, and how they are served over HTTP and over connections.
 *
 * @module
 */
export type { Secrets } from '../patterns/sealed-state.ts'
export type { AsJson } from '../patterns/steps.ts'
export { createServer } from './server.ts'
export { createLeanServer } from './lean-server.ts'
export { tasksOf } from './lean-definition.ts'
export type {
  LeanServer,
  LeanServerOptions,
  Middleware,
  Server,
  ServerOptions,
} from './definition.ts'
export type { Context, LeanContext } from './context.ts'
export {
  createGateway,
  mountClient,
  type Connector,
  type Gateway,
  type GatewayLimits,
  type GatewayOptions,
} from './gateway.ts'
export { mount, type Mount } from './mount.ts'
export type { Completer, Completers } from './completion.ts'
export type {
  Auth,
  Caller,
  ClientFacts,
  Permissions,
  Requester,
  ScopedServer,
  Viewer,
} from './exchange.ts'
export { accountOf } from '../session/account.ts'
export type { Protection } from './protection.ts'
export { identifyCallers } from './identify-callers.ts'
export { extend } from './extend.ts'
export type { Tell } from './added.ts'
export type { Extension, ExtensionFilter, ExtensionMethod } from './extension.ts'
export type { ElicitAnswer, FlatForm, FormQuestion, UrlAnswer, UrlQuestion } from './elicitation.ts'
export {
  createNotifier,
  type ChangeSource,
  type Notifier,
  type ServerChange,
  type SubscribeOptions,
  type Unsubscribe,
} from './notifier.ts'
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
} from './observer.ts'
export type { Redact } from './redact.ts'
export { rateLimit, type RateLimit } from './rate-limit.ts'
export type {
  PromptHandler,
  PromptOptions,
  PromptRegistration,
  PromptReturn,
  TextArguments,
} from './prompts.ts'
export type { Registration } from './registry.ts'
export { warnOfRepeats } from './repeats.ts'
export type {
  ReadHandler,
  ReadRequest,
  ReadReturn,
  ResourceOptions,
  ResourceRegistration,
  ResourceTemplateOptions,
} from './resources.ts'
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
} from './results.ts'
export { createTickets, type TicketOptions, type Tickets } from './tickets.ts'
export type { ToolResult, ToolReturn } from './tool-result.ts'
export type { TaskSupport, ToolTask } from './tool-task.ts'
export type {
  TaskMaker,
  ToolHandler,
  ToolHandlerFor,
  ToolOptions,
  ToolRegistration,
} from './tools.ts'
export type { InputOptions } from './rounds.ts'
export { serveTransport, type ConnectionOptions } from './connection.ts'
export { createHandler, type Handler } from '../transport/streamable-http/handler.ts'
export { createLeanHandler } from '../transport/streamable-http/lean-handler.ts'
export { createSseHandler, type SseHandlerOptions } from '../transport/http-sse-server.ts'
export {
  EVENT_STREAM_HEADERS,
  EventStream,
  type EventStreamOptions,
  type ServerSentEvent,
} from '../transport/event-stream.ts'
export type {
  HandlerOptions,
  HandlerSessions,
  LeanHandlerOptions,
} from '../transport/streamable-http/options.ts'
export { forwardedSessions, type SessionForwarder } from '../transport/streamable-http/forward.ts'
export type {
  ChangeListener,
  StreamCarrier,
  StreamOptions,
} from '../transport/streamable-http/stream-options.ts'
export {
  createMemoryEventLog,
  type EventLog,
  type EventLogLimits,
  type MemoryEventLogLimits,
  type LoggedEvent,
} from '../session/event-log.ts'
export {
  keptSessions,
  type KeptSessionOptions,
} from '../transport/streamable-http/kept-sessions.ts'
export { createMemorySessionStore, type SessionStore } from '../session/store.ts'
export type { KeptCall, KeptStream, Sink, StreamStore } from '../session/stream-store.ts'
export { keepCalls, type CallKeeper } from '../session/kept-calls.ts'
export {
  sealedSessions,
  type SealedSessionOptions,
} from '../transport/streamable-http/sealed-sessions.ts'
export type { SessionRecord } from '../session/session.ts'
export type { SessionLimits } from '../session/sessions.ts'
export {
  ProtocolError,
  ToolError,
  UrlElicitationRequired,
  type UrlElicitation,
} from '../protocol/errors.ts'
