/**
 * The types of the params and the result of each method, for middleware.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/schema
 */
import type {
  CallToolParams,
  CallToolResult,
  CancelledParams,
  CompleteParams,
  CompleteResult,
  CreateMessageParams,
  CreateMessageResult,
  DiscoverResult,
  ElicitParams,
  ElicitResult,
  GetPromptParams,
  GetPromptResult,
  JsonObject,
  ListPromptsResult,
  ListResourcesResult,
  ListResourceTemplatesResult,
  ListRootsResult,
  ListToolsResult,
  LoggingLevel,
  LoggingMessageParams,
  Meta,
  PaginatedParams,
  ProgressParams,
  ReadResourceParams,
  ReadResourceResult,
  Result,
  SubscriptionFilter,
} from './types.ts'

/** The types of messages without members of their own. */
interface Plain {
  params: JsonObject
  result: Result
}

/** The params and the result of each method. Notifications have no result. */
interface MethodTypes {
  'server/discover': { params: JsonObject; result: DiscoverResult }
  'tools/list': { params: PaginatedParams; result: ListToolsResult }
  'tools/call': { params: CallToolParams; result: CallToolResult }
  'resources/list': { params: PaginatedParams; result: ListResourcesResult }
  'resources/templates/list': { params: PaginatedParams; result: ListResourceTemplatesResult }
  'resources/read': { params: ReadResourceParams; result: ReadResourceResult }
  'resources/subscribe': { params: { uri: string }; result: Result }
  'resources/unsubscribe': { params: { uri: string }; result: Result }
  'prompts/list': { params: PaginatedParams; result: ListPromptsResult }
  'prompts/get': { params: GetPromptParams; result: GetPromptResult }
  'completion/complete': { params: CompleteParams; result: CompleteResult }
  'logging/setLevel': { params: { level: LoggingLevel }; result: Result }
  'subscriptions/listen': { params: { notifications: SubscriptionFilter }; result: Result }
  'elicitation/create': { params: ElicitParams; result: ElicitResult }
  'sampling/createMessage': { params: CreateMessageParams; result: CreateMessageResult }
  'roots/list': { params: JsonObject; result: ListRootsResult }
  'notifications/progress': { params: ProgressParams; result: Result }
  'notifications/message': { params: LoggingMessageParams; result: Result }
  'notifications/cancelled': { params: CancelledParams; result: Result }
  'notifications/resources/updated': { params: { uri: string }; result: Result }
}

type TypesOf<Method extends string> = Method extends keyof MethodTypes ? MethodTypes[Method] : Plain

/** The params of a method, which may have further members. For an unknown method, any object. */
export type ParamsOf<Method extends string> = TypesOf<Method>['params'] &
  JsonObject & { _meta?: Meta }

/** The complete result of a method. For an unknown method, any result. */
export type ResultOf<Method extends string> = TypesOf<Method>['result']

/** The method of a message: any text, if middleware wraps messages of all methods. */
export type MethodOf<Method extends string> = Method extends keyof MethodTypes ? Method : string
