/**
 * The client's state: what was negotiated, the requests in flight, what arrives.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic
 */
import { McpError } from '../protocol/errors.ts'
import {
  isResponse,
  notification,
  type JsonObject,
  type JsonRpcMessage,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type RequestId,
} from '../protocol/jsonrpc.ts'
import {
  META_CLIENT_CAPABILITIES,
  META_CLIENT_INFO,
  META_LOG_LEVEL,
  META_PROTOCOL_VERSION,
} from '../protocol/meta.ts'
import { degradeClientParams } from '../protocol/degrade-client.ts'
import { LATEST_MODERN, type RevisionFacts } from '../protocol/revisions.ts'
import type {
  ClientCapabilities,
  Implementation,
  LoggingLevel,
  ServerCapabilities,
} from '../protocol/types.ts'
import { isObject, isRequestId, validateMessage } from '../protocol/validate.ts'
import { ResultCache } from './cache.ts'
import { abortError, Call, type CallOwner } from './call.ts'
import { declaredCapabilities } from './capabilities.ts'
import type { Channel, ChannelReceiver, Outgoing } from './channel.ts'
import type { ConnectOptions, RequestOptions, ServerIdentity } from './options.ts'
import { ToolSchemas } from './tool-schemas.ts'

/** Who the client is when the application does not say. */
const EDGEWISE: Implementation = { name: 'edgewise', version: '0.1.0' }

/** Takes what the server sends on its own. */
export interface Incoming {
  /** Whether a request of the server's is being answered. */
  readonly answering: boolean
  request(message: JsonRpcRequest): void
  /** `call` is the request on whose stream the notification came. */
  notification(message: JsonRpcNotification, call: Call | undefined): void
  /** Stops answering. */
  close(): void
}

/** One client's state and the way to its server. */
export class Connection implements ChannelReceiver, CallOwner {
  readonly options: ConnectOptions
  readonly info: Implementation
  /** What the client declares. */
  readonly capabilities: ClientCapabilities
  readonly cache: ResultCache
  readonly tools: ToolSchemas = new ToolSchemas()
  incoming: Incoming | undefined
  /** The endpoint, over HTTP. */
  url: string | undefined
  serverInfo: Implementation | undefined
  /** Nothing when the server did not say. */
  serverCapabilities: ServerCapabilities | undefined
  instructions: string | undefined
  logLevel: LoggingLevel | undefined
  /** Opens a new session after the server ended one. */
  restore: (() => Promise<void>) | undefined
  /** Does what a new session needs. */
  restored: (() => Promise<void>) | undefined
  /** Looks again what the server is, when a failure says that what was remembered is wrong. */
  reprobe: ((error: unknown, status: number | undefined) => Promise<boolean>) | undefined
  /** Lists the tools anew, as the headers of a call were refused. */
  refreshTools: ((options: RequestOptions) => Promise<void>) | undefined
  readonly #calls = new Map<RequestId, Call>()
  #channel: Channel | undefined
  #revision: RevisionFacts | undefined
  #meta: JsonObject | undefined
  #lastId = 0
  #closed: McpError | undefined

  constructor(options: ConnectOptions) {
    this.options = options
    this.info = options.info ?? EDGEWISE
    this.capabilities = declaredCapabilities(options)
    this.cache = new ResultCache(options.cacheEntries ?? 256)
  }

  get channel(): Channel {
    if (!this.#channel) throw new McpError('CLOSED', 'The client is not connected')
    return this.#channel
  }

  set channel(channel: Channel) {
    this.#channel = channel
    channel.revision = this.#revision
  }

  /** What is spoken; nothing before the first attempt. */
  get negotiated(): RevisionFacts | undefined {
    return this.#revision
  }

  /** What is spoken. */
  get revision(): RevisionFacts {
    return this.#revision ?? LATEST_MODERN
  }

  /** Settles on a revision, or tries one. */
  speak(revision: RevisionFacts): void {
    this.#revision = revision
    this.#meta = undefined
    if (this.#channel) this.#channel.revision = revision
    if (revision.era === 'legacy') return
    const { roots, ...others } = this.capabilities
    this.#meta = {
      [META_PROTOCOL_VERSION]: revision.version,
      [META_CLIENT_CAPABILITIES]: roots ? { ...others, roots: {} } : others,
    }
    if (this.options.sendInfo !== false) this.#meta[META_CLIENT_INFO] = this.info
  }

  /** Whether HTTP headers have to repeat parts of each request. */
  get mirrors(): boolean {
    return this.channel.http && this.revision.era === 'modern'
  }

  /** Who the server is, for those who have to tell a user. */
  get server(): ServerIdentity {
    return { url: this.url, info: this.serverInfo }
  }

  /** Sends one request. No gates, no retries, no cache: see `request.ts` for these. */
  start(
    method: string,
    params: JsonObject | undefined,
    options: RequestOptions = {},
    headers?: Readonly<Record<string, string>>,
  ): Call {
    const id = ++this.#lastId
    const filled = this.#params(degradeClientParams(method, params, this.revision), options, id)
    const message: JsonRpcRequest = { jsonrpc: '2.0', id, method }
    if (filled) message.params = filled
    const timeoutMs = options.timeoutMs ?? this.options.timeoutMs ?? 60_000
    const maxTimeoutMs =
      options.maxTimeoutMs ?? Math.max(timeoutMs, this.options.maxTimeoutMs ?? 600_000)
    const { signal, onProgress, onLog } = options
    const call = new Call(
      message,
      { timeoutMs, maxTimeoutMs, signal, onProgress, onLog, headers },
      this,
    )
    if (this.#closed) call.reject(this.#closed)
    else if (signal?.aborted) call.reject(abortError(method, signal))
    else {
      this.#calls.set(id, call)
      this.channel.request(call)
    }
    return call
  }

  #params(
    params: JsonObject | undefined,
    options: RequestOptions,
    id: number,
  ): JsonObject | undefined {
    const { meta, onProgress, logLevel = this.logLevel } = options
    if (!this.#meta && !meta && !onProgress) return params
    const own = isObject(params?._meta) ? params._meta : undefined
    const filled: JsonObject = { ...own, ...meta, ...this.#meta }
    if (onProgress) filled.progressToken = id
    if (logLevel && this.#meta) filled[META_LOG_LEVEL] = logLevel
    return { ...params, _meta: filled }
  }

  /** Sends one notification. */
  async notify(method: string, params?: JsonObject): Promise<void> {
    if (this.#closed) throw this.#closed
    await this.channel.notify(notification(method, params))
  }

  // What a call tells

  get answering(): boolean {
    return this.incoming?.answering ?? false
  }

  done(call: Call): void {
    this.#calls.delete(call.message.id)
  }

  cancelled(call: Call, reason: string): void {
    this.#channel?.cancel(call, reason)
  }

  /** The request in flight with an id. Ids compare with their JSON type. */
  pending(id: unknown): Call | undefined {
    return isRequestId(id) ? this.#calls.get(id) : undefined
  }

  // What the channel tells

  receive(frame: unknown, call?: Outgoing): void {
    if (Array.isArray(frame) && this.negotiated?.batches) {
      for (const member of frame) this.#take(member, call)
    } else this.#take(frame, call)
  }

  #take(frame: unknown, call: Outgoing | undefined): void {
    let message: JsonRpcMessage
    try {
      message = validateMessage(frame)
    } catch (error) {
      return this.#refuse(frame, error, call)
    }
    try {
      if (isResponse(message)) this.#answer(message, call)
      else if ('id' in message) this.incoming?.request(message)
      else this.incoming?.notification(message, this.pending(call?.message.id))
    } catch (error) {
      this.problem(error)
    }
  }

  #answer(message: JsonRpcResponse, call: Outgoing | undefined): void {
    const { id } = message
    if (call) {
      if (id === call.message.id || (id ?? undefined) === undefined) call.resolve(message)
      return
    }
    const waiting = this.pending(id)
    if (waiting) return waiting.resolve(message)
    // A late answer, or a second one, is normal; one to a request that never was is not
    if (typeof id === 'number' && id > 0 && id <= this.#lastId) return
    const what = 'error' in message ? `: ${message.error.message}` : ''
    this.problem(new McpError('INVALID_MESSAGE', `The server answered no request${what}`))
  }

  /** Tells of a frame that is no message; the call that it was meant to answer fails with it. */
  #refuse(frame: unknown, cause: unknown, call: Outgoing | undefined): void {
    const reason = cause instanceof Error ? cause.message : ''
    const error = new McpError('INVALID_MESSAGE', `The server sent no valid message (${reason})`)
    const id = isObject(frame) && !('method' in frame) ? frame.id : undefined
    const target = call?.message.id === id ? call : this.pending(id)
    if (target) target.reject(error)
    else this.problem(error)
  }

  /** Tells the application of a problem; its hook cannot break anything. */
  problem(error: unknown): void {
    try {
      this.options.onError?.(error instanceof Error ? error : new Error(String(error)))
    } catch {
      // There is nobody left to tell
    }
  }

  sessionEnded(): void {
    this.restore?.().catch((error: unknown) => this.problem(error))
  }

  closed(reason?: Error): void {
    if (this.#closed) return
    const cause = reason ? { cause: reason } : {}
    const why = reason ? `: ${reason.message}` : ''
    this.#closed = new McpError('CLOSED', `The connection is closed${why}`, cause)
    this.incoming?.close()
    for (const call of this.#calls.values()) call.reject(this.#closed)
  }

  /** Forgets that the connection was closed, as another is about to be opened. */
  reopened(): void {
    this.#closed = undefined
  }

  /** Ends everything. Safe to call twice. */
  async close(): Promise<void> {
    this.closed()
    const channel = this.#channel
    this.#channel = undefined
    await channel?.close()
  }
}
