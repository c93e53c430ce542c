/**
 * The client: connects to an MCP server of any revision.
 *
 * @module
 */
export { connect, connectLean } from '../connect/connect.ts'
export type { Client } from '../client/client.ts'
export type { LeanClient } from '../client/lean-client.ts'
export {
  loadIcon,
  selectIcon,
  type IconLimits,
  type IconRules,
  type IconWish,
} from '../client/presentation/icons.ts'
export {
  formFields,
  type FormField,
  type FormOption,
  type FormValue,
} from '../client/presentation/form-fields.ts'
export { chooseModel } from '../client/presentation/model-hints.ts'
export { createConnection } from '../connect/reconnecting-client.ts'
export type {
  ConnectionState,
  LiveConnection,
  LiveOptions,
  LiveTarget,
} from '../connect/reconnecting-options.ts'
export { watchInteraction, type Visits } from '../authorization/visits.ts'
export { toolHints } from '../client/presentation/tool-hints.ts'
export type { Subscription } from '../client/features/subscription.ts'
export {
  clientExtension,
  type ClientExtensionOptions,
  type ResultFollower,
} from '../client/client-extension.ts'
export type { ClientExtension, ExtensionClient, FollowedRequest } from '../client/extension.ts'
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
} from '../client/options.ts'
export type { Receiver, Transport } from '../protocol/transport.ts'
export {
  isResourceNotFound,
  McpError,
  ProtocolError,
  type McpErrorCode,
} from '../protocol/errors.ts'
