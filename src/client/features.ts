/**
 * The optional features of a client. A preset combines them, so that a bundle contains only the ones it
 * uses.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/architecture
 */
import type {
  CacheHints,
  LoggingLevel,
  PaginatedResult,
  Result,
  JsonObject,
  JsonRpcNotification,
  JsonRpcRequest,
} from '../protocol/types.ts'
import type { Channel } from '../protocol/channel.ts'
import type { Call } from './call.ts'
import type { ExtensionRequest } from './extension.ts'
import type { RequestOptions } from './request-options.ts'

/** The result of looking up one request in the cache. */
export interface CacheLookup {
  /** A fresh result, as a copy that may be modified. */
  readonly result: Result | undefined
  /** Stores a result if its hints allow it, and if no entries were removed since the lookup. */
  store(result: Result & CacheHints): void
}

/** Caches results. */
export interface Cache {
  /**
   * Looks up the result of a request, unless its options say `reload`. Results that are not marked as
   * public belong to the principal of the channel. Results of requests with input responses are not stored.
   */
  lookup(request: ExtensionRequest, channel: Pick<Channel, 'principal'>): Promise<CacheLookup>
  /** Reads a list. Restarts once if cached pages have cursors that are no longer valid. */
  readList<List>(method: string, read: () => Promise<List>): Promise<List>
  /** Removes the results of the given methods. */
  forget(...methods: string[]): void
  /** Removes the results of a resource, its descendants and its ancestors. */
  forgetResource(changedUri: string): void
}

/**
 * Answers the server's requests, except pings. The optional members are for implementations that can
 * ask a user.
 */
export interface InputHandlers {
  /** Whether a request from the server is being answered. */
  readonly isAnswering?: boolean | undefined
  /**
   * Called with each request that the client sends. The server's requests outside of calls count towards
   * the most recent of these requests.
   */
  noteRequest?(message: JsonRpcRequest): void
  /**
   * Answers a request from the server.
   *
   * @param call The client's request on whose stream the server's request arrived. When this call is cancelled,
   *   the answer is no longer needed.
   */
  answerRequest(message: JsonRpcRequest, call: Call | undefined): void
  /** Receives a notification: stops answering a request that the server has cancelled. */
  receive?(message: JsonRpcNotification): void
  /**
   * Answers all requests of one `input_required` result concurrently.
   *
   * @param request The options of the request that received the result.
   * @param callKey An object that identifies the client's call; the same in each round of the call.
   */
  answerInputs(
    method: string,
    requests: Readonly<Record<string, unknown>>,
    signal: AbortSignal | undefined,
    request: RequestOptions | undefined,
    callKey: object,
  ): Promise<JsonObject>
  /** Stops answering. */
  close?(): void
}

/** Listens for changes. */
export interface ChangeListeners {
  /** The minimum level of log messages that the application asked for. */
  readonly logLevel: LoggingLevel | undefined
  /** Opens the streams that hooks and handlers need, once connected. */
  start(): void
  /** Receives any notification: some announce a change, some end a subscription. */
  receive(message: JsonRpcNotification): void
  /** Announces a change of each subscribed list and resource, because changes may have been missed. */
  announceAll(): void
  /** Restores the subscriptions of the old session in a new session. */
  restore(): Promise<void>
  /** Stops listening. */
  close(): void
}

/**
 * Yields the entries of a list, fetching each page when it is needed.
 *
 * @param fetchPage Fetches the page of a cursor. Without a cursor, fetches the first page.
 * @param member The member of a page that holds its entries.
 * @throws {SdkError} `LIMIT_EXCEEDED`.
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
