/**
 * The options of `connect`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
 */
import type { JsonObject, JsonRpcNotification } from '../protocol/jsonrpc.ts'
import type { Revision } from '../protocol/revisions.ts'
import type {
  ClientCapabilities,
  CreateMessageParams,
  CreateMessageResult,
  ElicitParams,
  ElicitResult,
  Implementation,
  LoggingMessageParams,
  Root,
  ServerCapabilities,
} from '../protocol/types.ts'
import type { Awaitable } from '../patterns/awaitable.ts'
import type { Channel, ChannelReceiver } from '../protocol/channel.ts'
import type { HttpOptions } from '../protocol/http-options.ts'
import type { ClientExtension } from './extension.ts'
import type { Cache } from './features.ts'
import type { RequestOptions } from './request-options.ts'

export type { RequestOptions } from './request-options.ts'

/** The options that every preset has. All are optional. */
export interface BaseConnectOptions extends HttpOptions {
  /** Who the client says it is. Default: Edgewise itself. */
  readonly info?: Implementation
  /**
   * The revisions that may be spoken, the most wanted first. Default: all, newest first. With
   * revisions of one era only, a server of the other is refused with a clear error.
   */
  readonly revision?: Revision | readonly Revision[]
  /**
   * What an earlier connection to the same server found (`client.discovery`), so that this
   * one costs no round trip. When the server turns out to have changed it is asked again.
   */
  readonly discovery?: Discovery | undefined
  /**
   * Connects to endpoints that have no Streamable HTTP: `httpSse`, for servers of 2024-11-05. Without
   * it they are refused.
   */
  readonly fallback?: (url: string, options: HttpOptions, receiver: ChannelReceiver) => Channel
  /**
   * Capabilities to declare beside those that handlers imply: experimental ones, for
   * example, and more of `elicitation` (`{ form: {}, url: {} }`; forms only by default), `sampling`
   * or `roots`. Of these three only what a handler is there for is declared.
   */
  readonly capabilities?: ClientCapabilities
  /**
   * Extensions of the protocol that the application has a use for; they are declared to servers.
   * None by default.
   */
  readonly extensions?: readonly ClientExtension[]
  /** Whether requests of 2026-07-28 tell `info`. Default: true. */
  readonly sendInfo?: boolean
  /** The longest silence that a request bears, in milliseconds; `Infinity` is possible. Default: 60 s. */
  readonly timeoutMs?: number
  /** The longest time that a request may take whatever its progress, in milliseconds. Default: 10 min. */
  readonly maxTimeoutMs?: number
  /** How often one call may be asked for input before it fails. Default: 10. */
  readonly maxRounds?: number
  /** How many pages a list may have. Default: 200. */
  readonly maxPages?: number
  /**
   * Gives the W3C trace context of each request, such as `traceparent`, which then travels in its
   * `_meta`; called once for each that is sent.
   */
  readonly trace?: () => TraceContext | undefined
  /** Aborts connecting. It does not end the connection later. */
  readonly signal?: AbortSignal
  /**
   * Is asked before a tool is called, and before any handler runs. When it says no,
   * nothing is sent or shown: the call fails, the server hears of a refusal.
   */
  readonly approve?: (request: ApprovalRequest) => Awaitable<boolean>
  /**
   * Hears of the log messages that come: with the answers to calls, and on the stream that
   * `connect` opens for it where sessions have one.
   *
   * @deprecated The protocol deprecates logging since 2026-07-28; it works in every revision.
   */
  readonly onLog?: (message: LoggingMessageParams) => void
  /** Hears of every notification that comes, known or not, as `onLog` does. */
  readonly onNotification?: (notification: JsonRpcNotification) => void
  /**
   * Problems that no call reports: bad messages, hidden tools, lost streams, callbacks that throw.
   * Default: `console.error`.
   */
  readonly onError?: (error: Error) => void
}

/** Options of {@link connect}. All are optional. */
export interface ConnectOptions extends BaseConnectOptions, Handlers, Hooks {
  /** Caches results for as long as their `ttlMs` says: `resultCache()`. Default: none. */
  readonly cache?: () => Cache
  /**
   * Caches which endpoints have sessions, so that these are not asked for anything newer first.
   * Default: a map that all clients of this process share.
   */
  readonly versionCache?: VersionCache
  /** How long the JSON of all pages of a list may be, in UTF-16 units. Default: 16 Mi. */
  readonly maxListLength?: number
  /** Checks structured output against the tool's schema; says what is wrong, or nothing. */
  readonly validateOutput?: (schema: JsonObject, value: unknown) => string | undefined
  /**
   * How long a server on stdio and the like may think about `server/discover` before it counts as
   * one that does not know it, in milliseconds. Default: 5 s.
   */
  readonly probeTimeoutMs?: number
}

/** The W3C trace context that a request carries in its `_meta`. */
export interface TraceContext {
  readonly traceparent?: string | undefined
  readonly tracestate?: string | undefined
  readonly baggage?: string | undefined
}

/** Answers to what a server may ask. A handler declares the capability. */
export interface Handlers {
  /**
   * Asks the user: fills in a form, or agrees to visit a URL. A URL is shown whole before it is
   * opened, and opened in a browser of the user's own, which neither the application nor a model can
   * look into.
   */
  readonly onElicit?: (params: ElicitParams, context: InputContext) => Awaitable<ElicitResult>
  /**
   * Lets a model answer.
   *
   * @deprecated The protocol deprecates sampling since 2026-07-28; it works in every revision.
   */
  readonly onSample?: (
    params: CreateMessageParams,
    context: InputContext,
  ) => Awaitable<CreateMessageResult>
  /**
   * The places that the server may work in, as `file:` URIs.
   *
   * @deprecated The protocol deprecates roots since 2026-07-28; they work in every revision.
   */
  readonly roots?: readonly Root[] | ((context: InputContext) => Awaitable<readonly Root[]>)
  /**
   * How often a server may ask during one call, by all of these together; more ends the call with
   * `LIMIT_EXCEEDED`. What comes outside of calls, or
   * while something is listed, counts as part of the last one. Default: 100.
   */
  readonly maxInputs?: number
  /** How many questions of one call are answered at once; the others wait. Default: 10. */
  readonly maxConcurrentInputs?: number
}

/** The circumstances in which a server asks. */
export interface InputContext {
  /** Aborts when the answer is not wanted any more. */
  readonly signal: AbortSignal
  /** Who asks. */
  readonly server: ServerIdentity
  /**
   * The options of the client's request that the question belongs to. Absent where the server asks
   * outside of a request, and where the transport does not show which request it is about, as on
   * stdio before 2026-07-28.
   */
  readonly request?: RequestOptions | undefined
}

/** A server, as users should be told about it: what it says of itself is no proof. */
export interface ServerIdentity {
  /** The endpoint, over HTTP. */
  readonly url?: string | undefined
  readonly info?: Implementation | undefined
}

/** What `approve` decides on. */
export interface ApprovalRequest {
  readonly method: string
  readonly params: JsonObject
  readonly server: ServerIdentity
}

/** Hear of changes. Where that takes a stream, it is opened when a hook is there. */
export interface Hooks {
  /** The list of tools has changed. */
  readonly onToolsChanged?: () => void
  /** The list of prompts has changed. */
  readonly onPromptsChanged?: () => void
  /** The list of resources, or of their templates, has changed. */
  readonly onResourcesChanged?: () => void
  /** A resource that was subscribed to, or one inside it, has changed. */
  readonly onResourceUpdated?: (uri: string) => void
}

/** What is known of a server of 2026-07-28; plain data that can be stored. */
export interface Discovery {
  readonly revision: Revision
  /** Absent when the server did not say, so that every call is allowed. */
  readonly capabilities?: ServerCapabilities | undefined
  readonly serverInfo?: Implementation | undefined
  readonly instructions?: string | undefined
}

/** Caches which versions endpoints speak, by their URLs. A `Map` will do. */
export interface VersionCache {
  /** What is known of an endpoint. */
  get(endpoint: string): string | undefined
  /** Stores what an endpoint speaks. */
  set(endpoint: string, version: string): unknown
  /** Forgets an endpoint. */
  delete(endpoint: string): unknown
}
