/**
 * HTTP server internals for the runtimes; not part of the public API.
 *
 * @module
 */
export { definitionOf } from '../server/definition-of.ts'
export type { PublicDocuments } from '../server/public-documents.ts'
export type { Secrets } from '../patterns/sealed-state.ts'
export {
  createNotifier,
  type ChangeSource,
  type Notifier,
  type ServerChange,
  type SubscribeOptions,
} from '../server/notifier.ts'
export { accountOf } from '../patterns/account.ts'
export { EVENT_STREAM_HEADERS, EventStream } from '../transport/http/event-stream.ts'
export {
  eventSink,
  type EventSinkOptions,
  type ServerSentEvent,
} from '../transport/http/server-sent-event.ts'
export { createGuard, type Guard } from '../transport/http/guard.ts'
export {
  CLOSE_TIMEOUT_MS,
  createEndpoint,
  listenFault,
  isAtPath,
  routeOf,
  type Endpoint,
  type ServeOptions,
} from '../transport/streamable-http/endpoint.ts'
export {
  requireSessionId,
  type SessionManager,
  type SessionProvider,
} from '../transport/streamable-http/sessions/manager.ts'
export type { IncomingRequest } from '../transport/streamable-http/incoming.ts'
export { jsonResponses, sessionNotFound } from '../transport/http/http-error.ts'
export { standaloneStreamOptions } from '../transport/streamable-http/sessions/standalone-stream.ts'
