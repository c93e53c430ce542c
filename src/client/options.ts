/**
 * The options of `connect`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
 */
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
  JsonObject,
  JsonRpcNotification,
} from '../protocol/types.ts'
import type { Awaitable } from '../patterns/awaitable.ts'
import type { Channel, ChannelReceiver } from '../protocol/channel.ts'
import type { HttpOptions } from '../protocol/http-options.ts'
import type { ClientExtension, ClientMiddleware } from './extension.ts'
import type { Cache } from './features.ts'
import type { RequestOptions } from './request-options.ts'

/** Opens a channel over an older transport. */
export type Fallback = (
  url: string,
  options: HttpOptions,
  receiver: ChannelReceiver,
) => Awaitable<Channel>

/** The options of `connect` in `edgewise/client` and in `edgewise/client/tiny`. All are optional. */
export interface BaseConnectOptions extends HttpOptions {
  /** The name and version that the client reports. By default it reports Edgewise itself. */
  readonly info?: Implementation
  /**
   * The revisions to use, in order of preference. By default all are used, newest first. Connecting to a
   * server that supports none of them fails.
   */
  readonly revision?: Revision | readonly Revision[]
  /**
   * The `client.discovery` of an earlier connection to the same server, which saves a round trip. If the
   * server turns out to have changed, the client discovers it again.
   */
  readonly discovery?: Discovery | undefined
  /**
   * The transport for endpoints without Streamable HTTP, such as endpoints of 2024-11-05.
   * `false` rejects these endpoints. By default, `edgewise/client` uses HTTP+SSE, and
   * `edgewise/client/tiny` rejects them unless you pass `httpSse`.
   *
   * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#backward-compatibility
   */
  readonly fallback?: Fallback | false
  /**
   * Capabilities to declare in addition to those that handlers imply: experimental ones, for example,
   * and details of `elicitation` (`{ form: {}, url: {} }`; only forms by default), `sampling` or
   * `roots`. These three are declared only if they have a handler.
   */
  readonly capabilities?: ClientCapabilities
  /**
   * The protocol extensions to declare to servers, and middleware. Messages pass through the middleware
   * of this list in its order, and then through that of `client.use`.
   *
   * @default []
   */
  readonly extensions?: readonly (ClientExtension | ClientMiddleware)[]
  /**
   * Whether requests of 2026-07-28 include `info`.
   *
   * @default true
   */
  readonly sendInfo?: boolean
  /**
   * Idle timeout of a request, in milliseconds; progress restarts it. `Infinity` disables it.
   *
   * @default 60000
   */
  readonly timeoutMs?: number
  /**
   * Total timeout of a request, regardless of progress, in milliseconds.
   *
   * @default 600000
   */
  readonly maxTimeoutMs?: number
  /**
   * How many times the server may ask for input during one call before the call fails.
   *
   * @default 10
   */
  readonly maxRounds?: number
  /**
   * The maximum number of pages of a list.
   *
   * @default 200
   */
  readonly maxPages?: number
  /** Observes the client's operations. Created by {@link clientObserver}. */
  readonly observe?: ClientObserver
  /** Aborts connecting. Once the connection is open, the signal has no effect. */
  readonly signal?: AbortSignal
  /**
   * Called before a tool is called and before any handler runs. If it returns false, nothing is sent or
   * shown: the call fails, or the server receives a rejection.
   */
  readonly approve?: (request: ApprovalRequest) => Awaitable<boolean>
  /**
   * Called with log messages. They arrive with the responses to calls and, in a session, on a stream that
   * `connect` opens for them.
   *
   * @deprecated The protocol deprecates logging since 2026-07-28; it works in every revision.
   */
  readonly onLog?: (message: LoggingMessageParams) => void
  /** Called with every notification that arrives, known or not, on the same streams as `onLog`. */
  readonly onNotification?: (notification: JsonRpcNotification) => void
  /**
   * Called with errors that no call reports: invalid messages, tools that are hidden because their
   * annotations are invalid, lost streams, exceptions in callbacks.
   *
   * @default console.error
   */
  readonly onError?: (error: Error) => void
}

/** Options of {@link connect}. All are optional. */
export interface ConnectOptions extends BaseConnectOptions, Handlers, Hooks {
  /**
   * Caches results for as long as their `ttlMs` allows; `false` caches nothing. The default cache holds up
   * to 256 results, and about 16 million characters of JSON. The request option `cache: 'reload'` bypasses it.
   *
   * @default resultCache()
   * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching
   */
  readonly cache?: (() => Cache) | false
  /**
   * Remembers which endpoints use sessions, so that newer revisions are not tried on them first. By
   * default all clients of this process share a map.
   */
  readonly versionCache?: VersionCache
  /**
   * The maximum total length of the pages of a list, in UTF-16 units of their JSON.
   *
   * @default 16777216
   */
  readonly maxListLength?: number
  /** Validates structured output against the tool's schema; returns what is wrong, or undefined. */
  readonly validateOutput?: (schema: JsonObject, value: unknown) => string | undefined
  /**
   * How long a server on stdio and similar transports may take to answer `server/discover`, in
   * milliseconds. After that, the client assumes that the server does not support the method.
   *
   * @default 5000
   */
  readonly probeTimeoutMs?: number
}

/** The option `observe` of a client, created by {@link clientObserver}. */
export interface ClientObserver {
  /**
   * Creates a connection whose operations are observed.
   *
   * @param parts The arguments of the constructor of the connection, which are internal.
   */
  readonly connect: (parts: unknown) => unknown
}

/** Handlers for the server's requests. Each handler declares its capability. */
export interface Handlers {
  /**
   * Shows a form to the user, or asks for consent to visit a URL. Show the whole URL before opening it,
   * and open it in the user's own browser, which neither the application nor a model can inspect.
   *
   * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
   */
  readonly onElicit?: (params: ElicitParams, context: InputContext) => Awaitable<ElicitResult>
  /**
   * Samples from a model.
   *
   * @deprecated The protocol deprecates sampling since 2026-07-28; it works in every revision.
   * @see https://modelcontextprotocol.io/specification/2026-07-28/client/sampling
   */
  readonly onSample?: (
    params: CreateMessageParams,
    context: InputContext,
  ) => Awaitable<CreateMessageResult>
  /**
   * The directories that the server may work in, as `file:` URIs.
   *
   * @deprecated The protocol deprecates roots since 2026-07-28; they work in every revision.
   * @see https://modelcontextprotocol.io/specification/2026-07-28/client/roots
   */
  readonly roots?: readonly Root[] | ((context: InputContext) => Awaitable<readonly Root[]>)
  /**
   * How many requests a server may send to these handlers during one call. If it sends more, the call
   * fails with `LIMIT_EXCEEDED`. Requests that arrive outside of calls, or during list requests, count
   * towards the last call.
   *
   * @default 100
   */
  readonly maxInputs?: number
  /**
   * How many requests of one call are answered concurrently; the others wait.
   *
   * @default 10
   */
  readonly maxConcurrentInputs?: number
}

/** The context of a server's request. */
export interface InputContext {
  /** Aborts when the answer is no longer needed. */
  readonly signal: AbortSignal
  /** The server that sent the request. */
  readonly server: ServerIdentity
  /**
   * The options of the client's request that this request belongs to. Absent if the server asks outside
   * of a request, or if the transport does not show which request it belongs to, as on stdio before
   * 2026-07-28.
   */
  readonly request?: RequestOptions | undefined
}

/** A server's identity, for display to users. Only the URL is verified. */
export interface ServerIdentity {
  /** The endpoint, over HTTP. */
  readonly url?: string | undefined
  readonly info?: Implementation | undefined
}

/** The request that `approve` decides on. */
export interface ApprovalRequest {
  readonly method: string
  readonly params: JsonObject
  readonly server: ServerIdentity
}

/** Hooks for changes. If the revision announces changes on a stream, setting any hook opens that stream. */
export interface Hooks {
  /** The list of tools has changed. */
  readonly onToolsChanged?: () => void
  /** The list of prompts has changed. */
  readonly onPromptsChanged?: () => void
  /** The list of resources or the list of resource templates has changed. */
  readonly onResourcesChanged?: () => void
  /** A subscribed resource, or one inside it, has changed. */
  readonly onResourceUpdated?: (uri: string) => void
}

/** The known facts about a server of 2026-07-28; plain data that can be stored. */
export interface Discovery {
  readonly revision: Revision
  /** Absent if the server did not send them. The client then allows every call. */
  readonly capabilities?: ServerCapabilities | undefined
  readonly serverInfo?: Implementation | undefined
  readonly instructions?: string | undefined
}

/** Remembers which versions endpoints support, by URL. A `Map` is sufficient. */
export interface VersionCache {
  /** Returns the stored version of an endpoint. */
  get(endpoint: string): string | undefined
  /** Stores the version of an endpoint. */
  set(endpoint: string, version: string): unknown
  /** Removes an endpoint. */
  delete(endpoint: string): unknown
}
