/**
 * Params and results of all messages, named as in the specification: the union of all revisions.
 * `degrade.ts` removes what the peer's revision lacks before sending.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/schema
 */
/** Identifies a request. The JSON type matters: `1` and `"1"` differ. Never `null`. */
export type RequestId = string | number

/** Any JSON object. */
export type JsonObject = { [key: string]: unknown }

/** A message that expects exactly one response. */
export interface JsonRpcRequest {
  jsonrpc: '2.0'
  id: RequestId
  method: string
  params?: JsonObject
}

/** A message without a response. */
export interface JsonRpcNotification {
  jsonrpc: '2.0'
  method: string
  params?: JsonObject
}

/** The successful response to a request. */
export interface JsonRpcResultResponse {
  jsonrpc: '2.0'
  id: RequestId
  result: JsonObject
}

/** The error response to a request; has no `id` only if the id of the request could not be read. */
export interface JsonRpcErrorResponse {
  jsonrpc: '2.0'
  id?: RequestId
  error: ErrorObject
}

/** The response to a request. */
export type JsonRpcResponse = JsonRpcResultResponse | JsonRpcErrorResponse

/** Any single message. Batches, which only 2025-03-26 has, are arrays of these. */
export type JsonRpcMessage = JsonRpcRequest | JsonRpcNotification | JsonRpcResponse

/** The error member of a JSON-RPC error response. */
export interface ErrorObject {
  /** An integer; see `ErrorCode`. */
  code: number
  /** One short sentence. */
  message: string
  /** Additional details. */
  data?: unknown
}

/** Free metadata; keys with a reserved prefix belong to the protocol. */
export type Meta = { [key: string]: unknown }

/** Severity of a log message, from RFC 5424. */
export type LoggingLevel =
  | 'debug'
  | 'info'
  | 'notice'
  | 'warning'
  | 'error'
  | 'critical'
  | 'alert'
  | 'emergency'

/** The speaker of a message in a conversation. */
export type Role = 'user' | 'assistant'

/** An image for display in a user interface; since 2025-11-25. */
export interface Icon {
  /** An `https:` or `data:` URI. */
  src: string
  mimeType?: string
  /** `"48x48"` or `"any"`. */
  sizes?: string[]
  theme?: 'light' | 'dark'
}

/** The name, title and icons of a listed item. */
export interface BaseMetadata {
  /** The identifier for programs. */
  name: string
  /** The title for display; since 2025-06-18. */
  title?: string
  icons?: Icon[]
}

/** The name and version of a client or server, as it reports them. Do not base trust on them. */
export interface Implementation extends BaseMetadata {
  version: string
  /** Since 2025-11-25. */
  description?: string
  /** Since 2025-11-25. */
  websiteUrl?: string
}

/** What a client supports. An open set. */
export interface ClientCapabilities {
  experimental?: { [name: string]: JsonObject }
  roots?: { listChanged?: boolean }
  sampling?: { context?: JsonObject; tools?: JsonObject }
  elicitation?: { form?: JsonObject; url?: JsonObject }
  tasks?: JsonObject
  extensions?: { [id: string]: JsonObject }
  [name: string]: unknown
}

/** What a server supports. An open set. */
export interface ServerCapabilities {
  experimental?: { [name: string]: JsonObject }
  logging?: JsonObject
  completions?: JsonObject
  prompts?: { listChanged?: boolean }
  resources?: { subscribe?: boolean; listChanged?: boolean }
  tools?: { listChanged?: boolean }
  tasks?: JsonObject
  extensions?: { [id: string]: JsonObject }
  [name: string]: unknown
}

/** Hints about the intended audience and the importance of content. */
export interface Annotations {
  audience?: Role[]
  /** From 0 to 1. */
  priority?: number
  /** ISO 8601; since 2025-06-18. */
  lastModified?: string
}

/** Members that every content block may have. */
interface ContentBase {
  annotations?: Annotations
  _meta?: Meta
}

/** Text content. */
export interface TextContent extends ContentBase {
  type: 'text'
  text: string
}

/** An image, encoded as Base64. */
export interface ImageContent extends ContentBase {
  type: 'image'
  data: string
  mimeType: string
}

/** Audio, encoded as Base64; since 2025-03-26. */
export interface AudioContent extends ContentBase {
  type: 'audio'
  data: string
  mimeType: string
}

/** A reference to a resource that can be read by its URI; since 2025-06-18. */
export interface ResourceLink extends Resource {
  type: 'resource_link'
}

/** A resource's contents, inline. */
export interface EmbeddedResource extends ContentBase {
  type: 'resource'
  resource: ResourceContents
}

/** One content block of a tool's or prompt's result. */
export type ContentBlock =
  | TextContent
  | ImageContent
  | AudioContent
  | ResourceLink
  | EmbeddedResource

/** Contents of a resource as text. */
export interface TextResourceContents {
  uri: string
  mimeType?: string
  text: string
  _meta?: Meta
}

/** Binary contents of a resource, encoded as Base64. */
export interface BlobResourceContents {
  uri: string
  mimeType?: string
  blob: string
  _meta?: Meta
}

/** Contents of a resource. */
export type ResourceContents = TextResourceContents | BlobResourceContents

/** Hints about a tool's behavior. Not trustworthy unless the server is. */
export interface ToolAnnotations {
  title?: string
  readOnlyHint?: boolean
  destructiveHint?: boolean
  idempotentHint?: boolean
  openWorldHint?: boolean
}

/** A JSON Schema whose root is an object. */
export interface ObjectSchema extends JsonObject {
  type: 'object'
  properties?: { [name: string]: JsonObject }
  required?: string[]
}

/** A tool in a list. */
export interface Tool extends BaseMetadata {
  description?: string
  inputSchema: ObjectSchema
  /** Since 2025-06-18. */
  outputSchema?: JsonObject
  annotations?: ToolAnnotations
  /** Task support; 2025-11-25 only. */
  execution?: { taskSupport?: 'forbidden' | 'optional' | 'required' }
  _meta?: Meta
}

/** A resource in a list. */
export interface Resource extends BaseMetadata {
  uri: string
  description?: string
  mimeType?: string
  /** In bytes, before encoding. */
  size?: number
  annotations?: Annotations
  _meta?: Meta
}

/** A resource template in a list. */
export interface ResourceTemplate extends BaseMetadata {
  /** A URI template as in RFC 6570. */
  uriTemplate: string
  description?: string
  mimeType?: string
  annotations?: Annotations
  _meta?: Meta
}

/** A prompt in a list. */
export interface Prompt extends BaseMetadata {
  description?: string
  arguments?: PromptArgument[]
  _meta?: Meta
}

/** One argument of a prompt. */
export interface PromptArgument extends BaseMetadata {
  description?: string
  required?: boolean
}

/** One message of a prompt. */
export interface PromptMessage {
  role: Role
  content: ContentBlock
}

/** Members that every result may have. Open: unknown members are kept. */
export interface Result {
  _meta?: Meta
  /** `complete`, `input_required` or a type that an extension adds; sent since 2026-07-28. */
  resultType?: string
  [name: string]: unknown
}

/** How long a result may be cached, and for whom; sent since 2026-07-28. */
export interface CacheHints {
  /** In milliseconds; 0 means immediately stale. */
  ttlMs?: number
  cacheScope?: 'public' | 'private'
}

/** Params of every list request. */
export interface PaginatedParams {
  /** The opaque `nextCursor` of the previous page. */
  cursor?: string
  _meta?: Meta
}

/** Members of every list result. */
export interface PaginatedResult extends Result, CacheHints {
  /** Present if there are more pages. */
  nextCursor?: string
}

/** Params of `initialize`. */
export interface InitializeParams {
  protocolVersion: string
  capabilities: ClientCapabilities
  clientInfo: Implementation
  _meta?: Meta
}

/** Result of `initialize`. */
export interface InitializeResult extends Result {
  protocolVersion: string
  capabilities: ServerCapabilities
  serverInfo: Implementation
  instructions?: string
}

/** Result of `server/discover`. */
export interface DiscoverResult extends Result, CacheHints {
  supportedVersions: string[]
  capabilities: ServerCapabilities
  instructions?: string
}

/** Result of `tools/list`. */
export interface ListToolsResult extends PaginatedResult {
  tools: Tool[]
}

/** Members of a repeated request that carries the responses to input requests; 2026-07-28. */
export interface InputRetryParams {
  inputResponses?: { [key: string]: JsonObject }
  requestState?: string
}

/** Params of `tools/call`. */
export interface CallToolParams extends InputRetryParams {
  name: string
  arguments?: JsonObject
  _meta?: Meta
}

/** Result of `tools/call`. */
export interface CallToolResult extends Result {
  content: ContentBlock[]
  /** Since 2025-06-18. Must be an object in revisions before 2026-07-28. */
  structuredContent?: unknown
  /** Whether the tool failed in a way that the model should see. */
  isError?: boolean
}

/** A request from the server to the client: part of a result in 2026-07-28, and a message of its own in earlier revisions. */
export interface InputRequest {
  method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list'
  params?: JsonObject
}

/** The result that requests input from the client before the request can be completed; 2026-07-28. */
export interface InputRequiredResult extends Result {
  resultType: 'input_required'
  inputRequests?: { [key: string]: InputRequest }
  requestState?: string
}

/** Result of `resources/list`. */
export interface ListResourcesResult extends PaginatedResult {
  resources: Resource[]
}

/** Result of `resources/templates/list`. */
export interface ListResourceTemplatesResult extends PaginatedResult {
  resourceTemplates: ResourceTemplate[]
}

/** Params of `resources/read`. */
export interface ReadResourceParams extends InputRetryParams {
  uri: string
  _meta?: Meta
}

/** Result of `resources/read`. */
export interface ReadResourceResult extends Result, CacheHints {
  contents: ResourceContents[]
}

/** Result of `prompts/list`. */
export interface ListPromptsResult extends PaginatedResult {
  prompts: Prompt[]
}

/** Params of `prompts/get`. */
export interface GetPromptParams extends InputRetryParams {
  name: string
  arguments?: { [name: string]: string }
  _meta?: Meta
}

/** Result of `prompts/get`. */
export interface GetPromptResult extends Result {
  description?: string
  messages: PromptMessage[]
}

/** What a completion refers to: a prompt's argument or a template's variable. */
export type CompletionReference =
  | { type: 'ref/prompt'; name: string; title?: string }
  | { type: 'ref/resource'; uri: string }

/** Params of `completion/complete`. */
export interface CompleteParams {
  ref: CompletionReference
  argument: { name: string; value: string }
  /** The values of the other arguments so far; since 2025-06-18. */
  context?: { arguments?: { [name: string]: string } }
  _meta?: Meta
}

/** Result of `completion/complete`. */
export interface CompleteResult extends Result {
  completion: {
    /** At most 100. */
    values: string[]
    total?: number
    hasMore?: boolean
  }
}

/** The changes that a client subscribes to; 2026-07-28. */
export interface SubscriptionFilter {
  toolsListChanged?: boolean
  promptsListChanged?: boolean
  resourcesListChanged?: boolean
  resourceSubscriptions?: string[]
  [name: string]: unknown
}

/** Params of `notifications/progress`. */
export interface ProgressParams {
  progressToken: RequestId
  /** Increases with every notification. */
  progress: number
  total?: number
  /** Since 2025-03-26. */
  message?: string
  _meta?: Meta
}

/** Params of `notifications/message`. */
export interface LoggingMessageParams {
  level: LoggingLevel
  logger?: string
  data: unknown
  _meta?: Meta
}

/** Params of `notifications/cancelled`. */
export interface CancelledParams {
  requestId: RequestId
  reason?: string
  _meta?: Meta
}

/** Params of `elicitation/create` in form mode; since 2025-06-18. */
export interface ElicitFormParams {
  mode?: 'form'
  message: string
  requestedSchema: ObjectSchema
  _meta?: Meta
}

/** Params of `elicitation/create` in URL mode; since 2025-11-25. */
export interface ElicitUrlParams {
  mode: 'url'
  message: string
  url: string
  /** 2025-11-25 only. */
  elicitationId?: string
  _meta?: Meta
}

/** Params of `elicitation/create`. */
export type ElicitParams = ElicitFormParams | ElicitUrlParams

/** Result of `elicitation/create`. */
export interface ElicitResult extends Result {
  action: 'accept' | 'decline' | 'cancel'
  /** Only with `accept`, only in form mode. */
  content?: { [name: string]: string | number | boolean | string[] }
}

/** A page that the user must visit before a request can be served; 2025-11-25. */
export interface UrlElicitation {
  mode: 'url'
  /** Unique per server. */
  elicitationId: string
  /** The explanation to show to the user. */
  message: string
  url: string
}

/** A tool call by the model; since 2025-11-25. */
export interface ToolUseContent {
  type: 'tool_use'
  id: string
  name: string
  input: JsonObject
  _meta?: Meta
}

/** The result of a tool that the model called; since 2025-11-25. */
export interface ToolResultContent {
  type: 'tool_result'
  toolUseId: string
  content: ContentBlock[]
  structuredContent?: unknown
  isError?: boolean
  _meta?: Meta
}

/** One content block of a sampling message. */
export type SamplingContent =
  | TextContent
  | ImageContent
  | AudioContent
  | ToolUseContent
  | ToolResultContent

/** One message of a sampling conversation. */
export interface SamplingMessage {
  role: Role
  /** An array only since 2025-11-25. */
  content: SamplingContent | SamplingContent[]
  _meta?: Meta
}

/** The priorities for selecting a model. */
export interface ModelPreferences {
  hints?: { name?: string }[]
  /** Each from 0 to 1. */
  costPriority?: number
  speedPriority?: number
  intelligencePriority?: number
}

/** Params of `sampling/createMessage`. */
export interface CreateMessageParams {
  messages: SamplingMessage[]
  maxTokens: number
  modelPreferences?: ModelPreferences
  systemPrompt?: string
  /** @deprecated Since 2025-11-25 most clients support only `none` or an absent value. */
  includeContext?: 'none' | 'thisServer' | 'allServers'
  temperature?: number
  stopSequences?: string[]
  metadata?: JsonObject
  /** Since 2025-11-25; needs the client's `sampling.tools`. */
  tools?: Tool[]
  toolChoice?: { mode?: 'auto' | 'required' | 'none' }
  _meta?: Meta
}

/** Result of `sampling/createMessage`. */
export interface CreateMessageResult extends Result {
  role: Role
  content: SamplingContent | SamplingContent[]
  model: string
  /** `endTurn`, `stopSequence`, `maxTokens`, `toolUse`, or anything else. */
  stopReason?: string
}

/** A directory that a server may work in. */
export interface Root {
  /** A `file:` URI. */
  uri: string
  name?: string
  _meta?: Meta
}

/** Result of `roots/list`. */
export interface ListRootsResult extends Result {
  roots: Root[]
}

/** The status of a task. The last three are final. */
export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled'

/** A task of the tasks extension. */
export interface Task {
  taskId: string
  status: TaskStatus
  statusMessage?: string
  /** ISO 8601. */
  createdAt: string
  lastUpdatedAt: string
  /** In milliseconds from creation; `null` means unlimited. */
  ttlMs: number | null
  pollIntervalMs?: number
}

/** A task of the tasks extension, with the data of its status. */
export interface DetailedTask extends Task {
  inputRequests?: { [key: string]: InputRequest }
  result?: Result
  error?: ErrorObject
}

/** A task of 2025-11-25. */
export interface CoreTask {
  taskId: string
  status: TaskStatus
  statusMessage?: string
  /** ISO 8601. */
  createdAt: string
  lastUpdatedAt: string
  /** In milliseconds from creation; `null` means unlimited. */
  ttl: number | null
  pollInterval?: number
}
