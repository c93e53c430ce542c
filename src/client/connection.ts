/**
 * The client's state: what was negotiated, the requests in flight, what arrives.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic
 */
import { McpError, ProtocolError, toErrorObject } from '../protocol/errors.ts'
import {
  errorResponse,
  isResponse,
  notification,
  type JsonObject,
  type JsonRpcRequest,
  type JsonRpcResponse,
} from '../protocol/jsonrpc.ts'
import {
  META_CLIENT_CAPABILITIES,
  META_CLIENT_INFO,
  META_LOG_LEVEL,
  META_PROTOCOL_VERSION,
} from '../protocol/meta.ts'
import { callHook } from '../patterns/hooks.ts'
import { degradeClientParams } from '../protocol/degrade-client.ts'
import { isListing, methods } from '../protocol/methods.ts'
import type { RevisionFacts } from '../protocol/revisions.ts'
import type {
  ClientCapabilities,
  Implementation,
  LoggingLevel,
  ServerCapabilities,
} from '../protocol/types.ts'
import { isObject, readableId, validateMessage } from '../protocol/validate.ts'
import type { Attempt } from './attempts.ts'
import { Call, type CallOwner } from './call.ts'
import { declaredCapabilities } from './capabilities.ts'
import type { Channel, ChannelReceiver, Outgoing } from '../protocol/channel.ts'
import type { ExtensionClient } from './extension.ts'
import type { Answers, Cache, CreateHttpSse, Incoming, Listening } from './features.ts'
import { givenUp, type WatchesGivenUp } from './given-up.ts'
import type { LeanOptions, RequestOptions, ServerIdentity } from './options.ts'
import { tellProblem } from './report-error.ts'
import { ToolSchemas } from './tool-schemas.ts'
import { allowedVersions, type Versions } from './versions.ts'

/** Who the client is when the application does not say. */
const EDGEWISE: Implementation = { name: 'edgewise', version: '0.1.0' }

/** One client's state and the way to its server. */
export class Connection implements ChannelReceiver, CallOwner {
  declare readonly options: WatchesGivenUp
  declare readonly versions: Versions
  declare readonly info: Implementation
  /** What the client declares. */
  declare readonly capabilities: ClientCapabilities
  /** Caches results, if this client does. */
  declare cache: Cache | undefined
  /** Falls back to the transport of 2024-11-05, if this client does. */
  declare createHttpSse: CreateHttpSse | undefined
  readonly tools: ToolSchemas = new ToolSchemas()
  declare channel: Channel
  declare incoming: Incoming
  /** Answers what the server asks. */
  declare answers: Answers
  /** Listens to changes, if this client does. */
  declare listening: Listening | undefined
  /** The client whose connection it is, for extensions. */
  declare client: ExtensionClient
  /** What is spoken, or tried. */
  declare revision: RevisionFacts
  /** The endpoint, over HTTP. */
  declare url: string | undefined
  declare serverInfo: Implementation | undefined
  /** Nothing when the server did not say. */
  declare serverCapabilities: ServerCapabilities | undefined
  declare instructions: string | undefined
  declare logLevel: LoggingLevel | undefined
  /** Opens a new session after the server ended one. */
  declare restore: (() => Promise<void>) | undefined
  /** Finds out anew what the server is. */
  declare find: (() => Promise<void>) | undefined
  /** What was tried in vain to find out what the server is. */
  attempts: Attempt[] = []
  /** Whether the server is known to be what it is taken for. */
  proven = false
  /** Lists the tools anew, as the headers of a call were refused. */
  declare refreshTools: ((options: RequestOptions) => Promise<void>) | undefined
  /** The request that was sent last, but for lists. */
  declare latest: JsonRpcRequest
  /** The requests in flight, by their ids, which compare with their JSON type. */
  readonly calls: Map<unknown, Call> = new Map<unknown, Call>()
  /** What every request of 2026-07-28 tells. */
  #meta: JsonObject | undefined
  #lastId = 0
  #closed: McpError | undefined
  /** Whether the application is done with it, and has no use for its problems. */
  #left = false

  /** @param handled The capabilities that the client's handlers amount to. */
  constructor(options: LeanOptions, handled?: ClientCapabilities) {
    this.options = options
    this.versions = allowedVersions(options)
    this.info = options.info ?? EDGEWISE
    this.capabilities = { ...declaredCapabilities(options), ...handled }
  }

  /** Tries a revision. */
  speak(revision: RevisionFacts): void {
    this.revision = revision
    this.#meta = undefined
    if (revision.era === 'legacy') return
    const { roots, ...others } = this.capabilities
    this.#meta = {
      [META_PROTOCOL_VERSION]: revision.version,
      [META_CLIENT_CAPABILITIES]: roots ? { ...others, roots: {} } : others,
    }
    if (this.options.sendInfo !== false) this.#meta[META_CLIENT_INFO] = this.info
  }

  /** Settles on a revision, and on what the server says of itself. */
  meet(
    revision: RevisionFacts,
    said: { capabilities?: unknown; serverInfo?: unknown; instructions?: unknown },
  ): void {
    this.speak(revision)
    this.attempts = []
    const { capabilities, serverInfo, instructions } = said
    this.serverCapabilities = isObject(capabilities) ? capabilities : undefined
    this.serverInfo = isObject(serverInfo)
      ? { ...serverInfo, name: String(serverInfo.name), version: String(serverInfo.version) }
      : undefined
    this.instructions = typeof instructions === 'string' ? instructions : undefined
  }

  /** Whether HTTP headers have to repeat parts of each request. */
  get mirrors(): boolean {
    return this.channel.http === true && this.revision.era === 'modern'
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
    const message: JsonRpcRequest = { jsonrpc: '2.0', id, method }
    const known = degradeClientParams(method, params, this.revision)
    const filled = this.#fill(known, options, id)
    if (filled) message.params = filled
    const { timeoutMs = this.options.timeoutMs ?? 60_000 } = options
    const { maxTimeoutMs = Math.max(timeoutMs, this.options.maxTimeoutMs ?? 600_000) } = options
    const call = new Call(message, { ...options, timeoutMs, maxTimeoutMs, headers }, this)
    if (this.#closed) call.reject(this.#closed)
    if (call.settled) return call
    if (!isListing(message)) this.latest = message
    this.calls.set(id, call)
    this.channel.request(call)
    return call
  }

  /** Adds what `_meta` has to tell. */
  #fill(
    params: JsonObject | undefined,
    { meta, onProgress, logLevel = this.logLevel, capabilities }: RequestOptions,
    id: number,
  ): JsonObject | undefined {
    const trace = this.options.trace?.()
    // The usual request shares what every request tells; a member before a spread is cheap
    const plain = !(params && '_meta' in params) && !meta && !trace && !onProgress && !logLevel
    if (plain && !capabilities) {
      return this.#meta ? { _meta: this.#meta, ...params } : params
    }
    const own = params?._meta
    const _meta: JsonObject = { ...trace, ...(isObject(own) ? own : {}), ...meta, ...this.#meta }
    if (onProgress) _meta.progressToken = id
    if (capabilities && this.#meta) {
      const declared = this.#meta[META_CLIENT_CAPABILITIES] as ClientCapabilities
      const extensions = { ...declared.extensions, ...capabilities.extensions }
      _meta[META_CLIENT_CAPABILITIES] = { ...declared, ...capabilities, extensions }
    }
    if (logLevel && this.#meta) _meta[META_LOG_LEVEL] = logLevel
    if (Object.keys(_meta).length === 0) return params
    return { ...params, _meta }
  }

  /**
   * Checks that the connection was not closed.
   *
   * @throws {McpError} `CLOSED`.
   */
  requireOpen(): void {
    if (this.#closed) throw this.#closed
  }

  /** Sends one notification. */
  async notify(method: string, params?: JsonObject): Promise<void> {
    this.requireOpen()
    await this.channel.send(notification(method, params))
  }

  /** Answers a request of the server's. */
  respond(response: JsonRpcResponse): void {
    this.watch(this.channel.send(response))
  }

  // What a call tells
  get answering(): boolean {
    return this.answers.answering
  }

  done(call: Call): void {
    this.calls.delete(call.message.id)
  }

  cancelled({ message: { id, method }, options }: Call, reason: string): void {
    this.options[givenUp]?.(id, options)
    // Over HTTP, since 2026-07-28, closing the stream says it all
    if (this.mirrors || method === 'initialize' || method === 'server/discover') return
    this.watch(this.notify('notifications/cancelled', { requestId: id, reason }))
  }

  // What the channel asks and tells

  nameParam(method: string): string | undefined {
    const adds = this.options.extensions?.find(({ nameParams }) => nameParams[method])
    return methods.get(method)?.nameParam ?? adds?.nameParams[method]
  }

  receive(frame: unknown, call?: Outgoing): void {
    const frames = Array.isArray(frame) && this.revision.batches ? frame : [frame]
    for (const one of frames) {
      try {
        const message = validateMessage(one)
        if (isResponse(message)) this.#answer(message, call)
        else if ('id' in message) this.incoming.request(message, call)
        else this.incoming.notification(message, call)
      } catch (error) {
        this.refuse(one, error)
      }
    }
  }

  #answer(message: JsonRpcResponse, call: Outgoing | undefined): void {
    const { id } = message
    // An error without an id is about the request on whose stream it came
    const waiting = id === undefined || id === null ? call : this.calls.get(id)
    if (waiting && (waiting === call || !call)) return waiting.resolve(message)
    // A late answer, or a second one, is normal; one to a request that never was is not
    if (call || (typeof id === 'number' && id <= this.#lastId)) return this.options[givenUp]?.(id)
    this.problem(new McpError('INVALID_MESSAGE', 'The server answered no request'))
  }

  /** Tells of what could not be taken: the call that it answers fails, a request is refused. */
  refuse(frame: unknown, error: unknown): void {
    if (!(error instanceof ProtocolError)) return this.problem(error)
    const asked = readableId(frame)
    const call = asked === undefined && isObject(frame) && this.calls.get(frame.id)
    if (asked !== undefined && this.revision.era === 'legacy') {
      this.respond(errorResponse(asked, toErrorObject(error)))
    }
    const problem = new McpError('INVALID_MESSAGE', error.message)
    if (call) call.reject(problem)
    else this.problem(problem)
  }

  problem(error: unknown): void {
    if (!this.#left) tellProblem(this.options, error)
  }

  /** Lets something go on by itself; tells of its failure. */
  watch(work: Promise<unknown> | undefined): void {
    work?.catch((error: unknown) => this.problem(error))
  }

  gap(): void {
    this.listening?.gap()
  }

  /** Calls a hook; tells of what it throws. */
  hook(run: () => unknown): void {
    callHook(run, (error) => this.problem(error))
  }

  sessionEnded(): void {
    this.watch(this.restore?.())
  }

  closed(cause?: Error): void {
    if (this.#closed) return
    const hint = ': the client was closed, so await its calls first, as by "return await"'
    const why = cause ? `: ${cause.message}` : this.#left ? hint : ''
    this.#closed = new McpError('CLOSED', `The connection is closed${why}`, { cause })
    this.answers.close()
    this.listening?.close()
    for (const call of this.calls.values()) call.reject(this.#closed)
  }

  /** Forgets that the connection was closed, as another is about to be opened. */
  reopened(): void {
    this.#closed = undefined
  }

  /** Ends everything. Safe to call twice. */
  async close(): Promise<void> {
    this.#left = true
    this.closed()
    await this.channel?.close()
  }
}
