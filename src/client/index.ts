/**
 * The client: connects to an MCP server of any revision.
 *
 * @module
 */
export { connect, connectLean } from './connect.ts'
export type { Client } from './client.ts'
export type { LeanClient } from './lean-client.ts'
export { loadIcon, selectIcon, type IconLimits, type IconRules, type IconWish } from './icons.ts'
export { formFields, type FormField, type FormOption, type FormValue } from './form-fields.ts'
export { chooseModel } from './model-hints.ts'
export { createConnection } from './live.ts'
export type { ConnectionState, LiveConnection, LiveOptions, LiveTarget } from './live-options.ts'
export { watchInteraction, type Visits } from './visits.ts'
export { toolHints } from './tool-hints.ts'
export type { Subscription } from './subscription.ts'
export {
  clientExtension,
  type ClientExtensionOptions,
  type ResultFollower,
} from './client-extension.ts'
export type { ClientExtension, ExtensionClient, FollowedRequest } from './extension.ts'
export type {
  ApprovalRequest,
  AuthProvider,
  Awaitable,
  ConnectOptions,
  Discovery,
  EraCache,
  Handlers,
  HeaderRecord,
  Hooks,
  HttpOptions,
  HttpRequestFacts,
  InputContext,
  LeanOptions,
  RequestOptions,
  ServerIdentity,
  TraceContext,
} from './options.ts'
export type { Receiver, Transport } from '../protocol/transport.ts'
export {
  isResourceNotFound,
  McpError,
  ProtocolError,
  type McpErrorCode,
} from '../protocol/errors.ts'
