/**
 * What a client may do beside calling. It is composed of those features that it is given, so that
 * nobody loads one that is not used.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/architecture
 */
import type { JsonObject, JsonRpcNotification, JsonRpcRequest } from '../protocol/jsonrpc.ts'
import type { Transport } from '../protocol/transport.ts'
import type { CacheHints, Result } from '../protocol/types.ts'
import type { Outgoing } from '../protocol/channel.ts'
import type { HttpOptions, RequestOptions } from './options.ts'

/** What a cache has for one request. */
export interface Lookup {
  /** A fresh result, as a copy that may be changed. */
  readonly found: Result | undefined
  /** Keeps a result if its hints allow, and nothing was forgotten while it was under way. */
  keep(result: Result & CacheHints): void
}

/** Caches results. */
export interface Cache {
  /** Whether there is anything to find. */
  readonly empty: boolean
  /**
   * Looks for the result of a request. What is not marked as public is the principal's own.
   *
   * @param fresh Whether to find nothing, as a result is wanted that is not kept yet.
   */
  lookup(
    method: string,
    params: JsonObject,
    principal: Promise<string> | undefined,
    fresh: boolean | undefined,
  ): Promise<Lookup>
  /** Forgets the results of some methods. */
  forget(...methods: string[]): void
  /** Forgets what was read of a resource, of those inside it, and of those that it is inside. */
  forgetResource(changed: string): void
}

/** Takes what the server sends on its own. */
export interface Incoming {
  /** `call` is the request on whose stream it came. */
  request(message: JsonRpcRequest, call: Outgoing | undefined): void
  notification(message: JsonRpcNotification, call: Outgoing | undefined): void
}

/** Answers what the server asks, beside signs of life. */
export interface Answers {
  /** Whether a request of the server's is being answered. */
  readonly answering: boolean
  /**
   * Answers a request that came on its own.
   *
   * @param call The client's request on whose stream it came: once nobody waits for that any more,
   *   nobody waits for the answer.
   */
  request(message: JsonRpcRequest, call: Outgoing | undefined): void
  /** Learns that the server does not want an answer any more. */
  cancelled(requestId: unknown, reason: unknown): void
  /**
   * Answers every request of one `input_required` result, all at once.
   *
   * @param request The options of the request that got it.
   * @param call Stands for the call that they belong to, in each of its rounds.
   */
  inputs(
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
export interface Listening {
  /** Takes a notification that may be one of change. */
  take(message: JsonRpcNotification): void
  /** Learns that the server has ended one of the client's requests. */
  ended(requestId: unknown): void
  /** Announces everything that is listened to once, as it may have changed unseen. */
  gap(): void
  /** Does again on a new session what was done on the old one. */
  restore(): Promise<void>
  /** Stops listening. */
  close(): void
}

/** Makes the transport of 2024-11-05, for servers that have no other over HTTP. */
export type CreateHttpSse = (url: string, options: HttpOptions) => Transport
