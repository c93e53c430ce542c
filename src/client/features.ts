/**
 * What a client may do beside calling. A preset composes it of features, so that a bundle has none
 * that is not used.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/architecture
 */
import type { JsonObject, JsonRpcNotification, JsonRpcRequest } from '../protocol/jsonrpc.ts'
import type { CacheHints, LoggingLevel, PaginatedResult, Result } from '../protocol/types.ts'
import type { Call } from './call.ts'
import type { RequestOptions } from './request-options.ts'

/** What a cache has for one request. */
export interface CacheLookup {
  /** A fresh result, as a copy that may be changed. */
  readonly found: Result | undefined
  /** Keeps a result if its hints allow, and nothing was forgotten while it was under way. */
  keep(result: Result & CacheHints): void
}

/** Caches results. */
export interface Cache {
  /**
   * Looks for the result of a request. What is not marked as public is the principal's own.
   *
   * @param reload Whether to find nothing, as the server is to be asked.
   */
  lookup(
    method: string,
    params: JsonObject,
    principal: Promise<string> | undefined,
    reload: boolean,
  ): Promise<CacheLookup>
  /** Gets a list. Starts anew, once, when cached pages have lost their cursors. */
  readList<List>(method: string, read: () => Promise<List>): Promise<List>
  /** Forgets the results of some methods. */
  forget(...methods: string[]): void
  /** Forgets what was read of a resource, of those inside it, and of those that it is inside. */
  forgetResource(changed: string): void
}

/** Answers what the server requests, other than pings. */
export interface InputHandlers {
  /** Whether a request of the server's is being answered. */
  readonly isAnswering: boolean
  /**
   * Answers a request of the server's.
   *
   * @param call The client's request on whose stream it came: once nobody waits for that any more,
   *   nobody waits for the answer.
   */
  answerRequest(message: JsonRpcRequest, call: Call | undefined): void
  /** Stops answering a request that the server has cancelled. */
  cancelRequest(requestId: unknown, reason: unknown): void
  /**
   * Answers every request of one `input_required` result, all at once.
   *
   * @param request The options of the request that got it.
   * @param call Stands for the call that they belong to, in each of its rounds.
   */
  answerInputs(
    method: string,
    requests: Readonly<Record<string, unknown>>,
    signal: AbortSignal | undefined,
    request: RequestOptions | undefined,
    call: object,
  ): Promise<JsonObject>
  /** Stops answering. */
  close(): void
}

/** Listens to changes. */
export interface ChangeListeners {
  /** The least severe log messages that the application asked for. */
  readonly logLevel: LoggingLevel | undefined
  /** Opens what hooks and handlers need, once the connection is there. */
  start(): void
  /** Takes a notification that may be one of change. */
  take(message: JsonRpcNotification): void
  /** Ends a subscription whose request the server has cancelled. */
  endRequest(requestId: unknown): void
  /** Announces everything that is listened to once, as it may have changed unseen. */
  gap(): void
  /** Does again on a new session what was done on the old one. */
  restore(): Promise<void>
  /** Stops listening. */
  close(): void
}

/**
 * Yields the entries of a list, page after page, and fetches a page when it is needed.
 *
 * @param fetchPage Gets the page of a cursor; the first one without.
 * @param member The member of a page that has its entries.
 * @throws {McpError} `LIMIT_EXCEEDED`.
 */
export type WalkPages = (
  method: string,
  fetchPage: (cursor?: string) => Promise<PaginatedResult>,
  member: string,
) => AsyncGenerator<object, void, undefined>

/** The features of one client, and the client itself. */
export interface ClientParts<Client> {
  readonly client: Client
  readonly walkPages: WalkPages
  readonly inputHandlers: InputHandlers
  readonly changes?: ChangeListeners
  readonly cache?: Cache
}
