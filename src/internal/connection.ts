/**
 * Duplex connections for the runtimes; not part of the public API.
 *
 * @module
 */
export { errorResponse, writeJson, type Answer } from '../protocol/jsonrpc.ts'
export { isObject, parseJson } from '../protocol/validate.ts'
export { onAuthorizationEnd } from '../server/authorization-end.ts'
export type { ServerDefinition } from '../server/definition.ts'
export { definitionOf } from '../server/definition-of.ts'
export { Outbox } from '../server/outbox.ts'
export { ServerConnection, type ServerConnectionOptions } from '../server/server-connection.ts'
export { HttpError } from '../transport/http/http-error.ts'
export { Inbox } from '../transport/inbox.ts'
