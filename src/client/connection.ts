/**
 * The client's state: what was negotiated with the server, and the requests in flight.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic
 */
import { callHook } from '../patterns/hooks.ts'
import type { Channel } from '../protocol/channel.ts'
import { degradeClientParams } from '../protocol/degrade-client.ts'
import { McpError } from '../protocol/errors.ts'
import {
  notification,
  type JsonObject,
  type JsonRpcRequest,
  type JsonRpcResponse,
} from '../protocol/jsonrpc.ts'
import { isListing } from '../protocol/methods.ts'
import type { RevisionFacts } from '../protocol/revisions.ts'
import type { ClientCapabilities, Implementation, ServerCapabilities } from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'
import type { Attempt } from './attempts.ts'
import { Call, type CallOwner } from './call.ts'
import type { ExtensionClient } from './extension.ts'
import type { Cache, ChangeListeners, ClientParts, InputHandlers, WalkPages } from './features.ts'
import { givenUp, type WatchesGivenUp } from './given-up.ts'
import type { RequestOptions, ServerIdentity } from './options.ts'
import { reportError } from './report-error.ts'
import { addMeta, commonMeta } from './request-meta.ts'
import { ToolSchemas } from './tool-schemas.ts'
import { allowedVersions, type Versions } from './versions.ts'

/** Who the client is when the application does not say. */
const EDGEWISE: Implementation = { name: 'edgewise', version: '0.1.0' }

/** Where a connection leads: opens the channel to a server, and finds out what it is. */
export interface ConnectionTarget {
  /** The endpoint, over HTTP. */
  readonly url?: string
  /** Opens a channel and negotiates a revision. */
  open(connection: Connection): Promise<void>
  /** Finds out what the server is: at first, and again when it proves to be something else. */
  negotiate(connection: Connection): Promise<void>
}

/** What a connection is made of. */
export interface ConnectionParts<Client extends ExtensionClient> {
  readonly options: WatchesGivenUp
  /** What the client declares. */
  readonly capabilities: ClientCapabilities
  readonly target: ConnectionTarget
  /** Makes the client and its features. */
  readonly compose: (connection: Connection) => ClientParts<Client>
}

/** One client's state and the way to its server. */
export class Connection<Client extends ExtensionClient = ExtensionClient>
  implements CallOwner, ClientParts<Client>
{
  readonly options: WatchesGivenUp
  readonly versions: Versions
  readonly info: Implementation
  readonly capabilities: ClientCapabilities
  /** The client whose connection it is, for extensions. */
  declare readonly client: Client
  declare readonly inputHandlers: InputHandlers
  declare readonly changes?: ChangeListeners
  declare readonly cache?: Cache
  declare readonly walkPages: WalkPages
  readonly tools: ToolSchemas = new ToolSchemas()
  /** The requests in flight, by their ids, which compare with their JSON type. */
  readonly calls: Map<unknown, Call> = new Map<unknown, Call>()
  /** What was tried in vain to find out what the server is. */
  readonly attempts: Attempt[] = []
  /**
   * The request that was sent last, but for lists. Questions of the server that belong to no call
   * count as part of it.
   */
  declare latest: JsonRpcRequest
  /** The target sets it before anything is sent. */
  declare channel: Channel
  /** The revision that is in use, or being tried. */
  declare revision: RevisionFacts
  declare serverInfo: Implementation | undefined
  /** Nothing when the server did not say. */
  declare serverCapabilities: ServerCapabilities | undefined
  declare instructions: string | undefined
  /** Whether an answer has confirmed what the server is taken for. */
  isConfirmed = false
  /** The id of the request that was sent last. */
  lastId = 0
  readonly #target: ConnectionTarget
  /** What every request of 2026-07-28 repeats. */
  #meta: JsonObject | undefined
  #closed: McpError | undefined
  #restoring: Promise<void> | undefined
  /** Whether the application is done with it, so that nothing is reported any more. */
  #closedByUser = false

  constructor({ options, capabilities, target, compose }: ConnectionParts<Client>) {
    this.options = options
    this.versions = allowedVersions(options)
    this.info = options.info ?? EDGEWISE
    this.capabilities = capabilities
    this.#target = target
    Object.assign(this, compose(this))
  }

  /** Tries a revision. */
  setRevision(revision: RevisionFacts): void {
    this.revision = revision
    const info = this.options.sendInfo === false ? undefined : this.info
    this.#meta = commonMeta(revision, this.capabilities, info)
  }

  /** Settles on a revision, and on what the server says of itself. */
  applyServerInfo(
    revision: RevisionFacts,
    said: { capabilities?: unknown; serverInfo?: unknown; instructions?: unknown },
  ): void {
    this.setRevision(revision)
    this.attempts.length = 0
    const { capabilities, serverInfo, instructions } = said
    this.serverCapabilities = isObject(capabilities) ? capabilities : undefined
    this.serverInfo = isObject(serverInfo)
      ? { ...serverInfo, name: String(serverInfo.name), version: String(serverInfo.version) }
      : undefined
    this.instructions = typeof instructions === 'string' ? instructions : undefined
  }

  /** Takes an answer as confirmation of what the server is taken for. */
  confirm(): void {
    this.isConfirmed = true
  }

  /** Finds out what the server is: at first, and again when it proves to be something else. */
  negotiate(): Promise<void> {
    // What is found now counts as confirmed, so that no later failure starts another negotiation
    this.isConfirmed = true
    this.attempts.length = 0
    return this.#target.negotiate(this)
  }

  /** Whether HTTP headers have to repeat parts of each request. */
  get repeatsInHeaders(): boolean {
    return this.channel.http !== undefined && this.revision.era === 'modern'
  }

  /** The server, as users should be told about it. */
  get server(): ServerIdentity {
    return { url: this.#target.url, info: this.serverInfo }
  }

  /** Sends one request. No gates, no retries, no cache: see `request.ts` for these. */
  start(
    method: string,
    params: JsonObject | undefined,
    options: RequestOptions = {},
    headers?: Readonly<Record<string, string>>,
  ): Call {
    const id = ++this.lastId
    const message: JsonRpcRequest = { jsonrpc: '2.0', id, method }
    const { logLevel = this.changes?.logLevel, timeoutMs = this.options.timeoutMs ?? 60_000 } =
      options
    const { maxTimeoutMs = Math.max(timeoutMs, this.options.maxTimeoutMs ?? 600_000) } = options
    const sent = { ...options, logLevel, timeoutMs, maxTimeoutMs, headers }
    const known = degradeClientParams(method, params, this.revision)
    const filled = addMeta(known, this.#meta, sent, this.options.trace?.(), id)
    if (filled) message.params = filled
    const call = new Call(message, sent, this)
    if (this.#closed) call.reject(this.#closed)
    if (call.settled) return call
    if (!isListing(message)) this.latest = message
    this.calls.set(id, call)
    this.channel.request(call)
    return call
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
    this.reportFailureOf(this.channel.send(response))
  }

  onCallDone(call: Call): void {
    this.calls.delete(call.message.id)
  }

  onCallCancelled({ message: { id, method }, options }: Call, reason: string): void {
    this.options[givenUp]?.(id, options)
    // Over HTTP, since 2026-07-28, closing the stream says it all
    if (this.repeatsInHeaders || method === 'initialize' || method === 'server/discover') return
    this.reportFailureOf(this.notify('notifications/cancelled', { requestId: id, reason }))
  }

  /** Reports an error that no call fails with. */
  reportError(error: unknown): void {
    if (!this.#closedByUser) reportError(this.options, error)
  }

  /** Lets work go on by itself, and reports its failure. */
  reportFailureOf(work: Promise<unknown> | undefined): void {
    work?.catch((error: unknown) => this.reportError(error))
  }

  /** Calls a hook, and reports what it throws. */
  hook(run: () => unknown): void {
    callHook(run, (error) => this.reportError(error))
  }

  /** Restores a session, unless that is under way. */
  restoreOnce(restore: () => Promise<void>): Promise<void> {
    this.attempts.length = 0
    return (this.#restoring ??= restore().finally(() => (this.#restoring = undefined)))
  }

  /** Replaces the channel by another, on which the connection is open again. */
  async replaceChannel(channel: Channel): Promise<void> {
    await this.channel?.close()
    this.reopen()
    this.channel = channel
  }

  /** Forgets that the connection was closed, as its channel has begun anew. */
  reopen(): void {
    this.#closed = undefined
  }

  /** Rejects everything in flight, as nothing more will arrive. */
  rejectAll(cause?: Error): void {
    if (this.#closed) return
    const hint = ': the client was closed, so await its calls first, as by "return await"'
    const why = cause ? `: ${cause.message}` : this.#closedByUser ? hint : ''
    this.#closed = new McpError('CLOSED', `The connection is closed${why}`, { cause })
    this.inputHandlers.close()
    this.changes?.close()
    for (const call of this.calls.values()) call.reject(this.#closed)
  }

  /** Ends everything. Safe to call twice. */
  async close(): Promise<void> {
    this.#closedByUser = true
    this.rejectAll()
    await this.channel?.close()
  }
}
