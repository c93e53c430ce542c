/**
 * The state of a client: what was negotiated with the server, and the requests in flight.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic
 */
import { callHook } from '../patterns/hooks.ts'
import type { Channel } from '../protocol/channel.ts'
import { degradeClientParams } from '../protocol/degrade-client.ts'
import { SdkError } from '../protocol/errors.ts'
import { notification } from '../protocol/jsonrpc.ts'
import type { RevisionFacts } from '../protocol/revisions.ts'
import type {
  ClientCapabilities,
  Implementation,
  Result,
  ServerCapabilities,
  JsonObject,
  JsonRpcRequest,
  JsonRpcResponse,
} from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'
import type { Attempt } from './attempts.ts'
import { Call, type CallOwner } from './call.ts'
import { passDirectly, type ExtensionClient, type PassMessage } from './extension.ts'
import type { Cache, ChangeListeners, ClientParts, InputHandlers, WalkPages } from './features.ts'
import { onAbandoned, type AbandonedRequestOptions } from './abandoned-requests.ts'
import type { ServerIdentity } from './options.ts'
import type { RequestOptions } from './request-options.ts'
import { reportError } from './report-error.ts'
import { commonMeta, withProtocolMeta } from './request-meta.ts'
import { ToolSchemas } from './tool-schemas.ts'
import { allowedVersions, type Versions } from './versions.ts'

/** The default `clientInfo`. */
const DEFAULT_INFO: Implementation = { name: 'edgewise', version: '0.1.0' } // x-release-please-version

/** The server that a connection leads to: opens the channel to it and negotiates with it. */
export interface ConnectionTarget {
  /** The endpoint, over HTTP. */
  readonly url?: string
  /** Opens a channel and negotiates a revision. */
  open(connection: Connection): Promise<void>
  /** Determines the server's revision: initially, and again if the server turns out to have changed. */
  negotiate(connection: Connection): Promise<void>
}

/** The parts that a connection is made of. */
export interface ConnectionParts<Client extends ExtensionClient> {
  readonly options: AbandonedRequestOptions
  /** The capabilities that the client declares. */
  readonly capabilities: ClientCapabilities
  readonly target: ConnectionTarget
  /** Creates the client and its features. */
  readonly compose: (connection: Connection) => ClientParts<Client>
}

/** The state of one client and the channel to its server. */
export class Connection<Client extends ExtensionClient = ExtensionClient>
  implements CallOwner, ClientParts<Client>
{
  readonly options: AbandonedRequestOptions
  readonly versions: Versions
  readonly info: Implementation
  readonly capabilities: ClientCapabilities
  /** The client that owns the connection, for extensions. */
  declare readonly client: Client
  declare readonly inputHandlers: InputHandlers
  declare readonly changes?: ChangeListeners
  declare readonly cache?: Cache
  declare readonly walkPages: WalkPages
  readonly tools: ToolSchemas = new ToolSchemas()
  /** For each method of an extension, the param that the `Mcp-Name` header repeats. */
  readonly nameParams: Map<string, string> = new Map()
  /** The requests in flight by id; the keys distinguish strings from numbers. */
  readonly calls: Map<unknown, Call> = new Map<unknown, Call>()
  /** Passes a message through the middleware. */
  pass: PassMessage = passDirectly
  /** The failed attempts at negotiating with the server. */
  readonly attempts: Attempt[] = []
  /** Set by the target before anything is sent. */
  declare channel: Channel
  /** The revision that is in use or being tried. */
  declare revision: RevisionFacts
  declare serverInfo: Implementation | undefined
  /** Undefined if the server did not send them. */
  declare serverCapabilities: ServerCapabilities | undefined
  declare instructions: string | undefined
  /** Whether a response has confirmed the assumed revision of the server. */
  isConfirmed = false
  /** The id of the last request sent. */
  lastId = 0
  readonly #target: ConnectionTarget
  /** The `_meta` that every request of 2026-07-28 repeats. */
  #meta: JsonObject | undefined
  #closeError: SdkError | undefined
  #restoring: Promise<void> | undefined
  /** Whether the application has closed the connection, so that nothing is reported any longer. */
  #isClosedByApplication = false

  constructor({ options, capabilities, target, compose }: ConnectionParts<Client>) {
    this.options = options
    this.versions = allowedVersions(options)
    this.info = options.info ?? DEFAULT_INFO
    this.capabilities = capabilities
    this.#target = target
    // Sets `client`, `inputHandlers`, `changes`, `cache` and `walkPages`
    Object.assign(this, compose(this))
    for (const extension of options.extensions ?? []) extension.attach(this)
  }

  /** Sets the revision to try. */
  setRevision(revision: RevisionFacts): void {
    this.revision = revision
    const info = this.options.sendInfo === false ? undefined : this.info
    this.#meta = commonMeta(revision, this.capabilities, info)
  }

  /** Sets the negotiated revision and the server's description of itself. */
  applyServerInfo(
    revision: RevisionFacts,
    description: { capabilities?: unknown; serverInfo?: unknown; instructions?: unknown },
  ): void {
    this.setRevision(revision)
    this.attempts.length = 0
    const { capabilities, serverInfo, instructions } = description
    this.serverCapabilities = isObject(capabilities) ? capabilities : undefined
    this.serverInfo = isObject(serverInfo)
      ? { ...serverInfo, name: String(serverInfo.name), version: String(serverInfo.version) }
      : undefined
    this.instructions = typeof instructions === 'string' ? instructions : undefined
  }

  /** Called when a response confirms the assumed revision. */
  confirm(): void {
    this.isConfirmed = true
  }

  /** Determines the server's revision: initially, and again if the server turns out to have changed. */
  negotiate(): Promise<void> {
    // Confirmed in advance, so that no failure during the negotiation starts another negotiation
    this.isConfirmed = true
    this.attempts.length = 0
    return this.#target.negotiate(this)
  }

  /**
   * Whether requests are sent over HTTP in a revision since 2026-07-28. If so, headers repeat parts of each
   * request, and closing a stream cancels its request.
   */
  get isModernHttp(): boolean {
    return this.channel.http !== undefined && this.revision.era === 'modern'
  }

  /** The server's identity, as it is to be shown to users. */
  get server(): ServerIdentity {
    return { url: this.#target.url, info: this.serverInfo }
  }

  /** Sends one request without checks, retries or cache: see `request.ts` for these. */
  start(
    method: string,
    params: JsonObject | undefined,
    options: RequestOptions = {},
    headers?: Readonly<Record<string, string>>,
  ): Call {
    const id = ++this.lastId
    const message: JsonRpcRequest = { jsonrpc: '2.0', id, method }
    const {
      logLevel = this.changes?.logLevel,
      timeoutMs = this.options.timeoutMs ?? 60_000,
      maxTimeoutMs = Math.max(timeoutMs, this.options.maxTimeoutMs ?? 600_000),
    } = options
    // On Node 20, adding members to a spread object takes microseconds
    const callOptions = Object.assign({}, options, { logLevel, timeoutMs, maxTimeoutMs, headers })
    // Without what the revision does not define
    const degradedParams = degradeClientParams(method, params, this.revision)
    const sentParams = withProtocolMeta(degradedParams, this.#meta, callOptions, id)
    if (sentParams) message.params = sentParams
    const call = new Call(message, callOptions, this)
    if (this.#closeError) call.reject(this.#closeError)
    if (call.settled) return call
    this.inputHandlers.noteRequest?.(message)
    this.calls.set(id, call)
    this.channel.request(call).catch((error: Error) => call.reject(error))
    return call
  }

  /**
   * Sends one round of a request, in several attempts if needed. An observed connection reports each round as one
   * operation. The request with the answers to the server's questions is the next round.
   */
  request(
    options: RequestOptions,
    send: (options: RequestOptions) => Promise<Result>,
  ): Promise<Result> {
    return send(options)
  }

  /**
   * Checks that the connection was not closed.
   *
   * @throws {SdkError} `CLOSED`.
   */
  requireOpen(): void {
    if (this.#closeError) throw this.#closeError
  }

  /** Sends one notification. */
  async notify(method: string, params?: JsonObject): Promise<void> {
    this.requireOpen()
    // For middleware, the context of a notification that the client sends is empty
    await this.pass(notification(method, params), {}, (message) => this.channel.send(message))
  }

  /** Responds to a request from the server. */
  respond(response: JsonRpcResponse): void {
    this.reportFailureOf(this.channel.send(response))
  }

  onCallDone(call: Call): void {
    this.calls.delete(call.message.id)
  }

  onCallCancelled({ message: { id, method }, options }: Call, reason: string): void {
    this.options[onAbandoned]?.(id, options)
    // Over HTTP, since 2026-07-28, closing the stream is the cancellation. A handshake is not cancelled
    if (this.isModernHttp || method === 'initialize' || method === 'server/discover') return
    this.reportFailureOf(this.notify('notifications/cancelled', { requestId: id, reason }))
  }

  /** Reports an error that no call rejects with. */
  reportError(error: unknown): void {
    if (!this.#isClosedByApplication) reportError(this.options, error)
  }

  /** Lets work continue in the background and reports its failure. */
  reportFailureOf(work: Promise<unknown> | undefined): void {
    work?.catch((error: unknown) => this.reportError(error))
  }

  /** Calls a hook and reports what it throws. */
  runHook(run: () => unknown): void {
    callHook(run, (error) => this.reportError(error))
  }

  /** Restores a session, unless that is already in progress. */
  restoreOnce(restore: () => Promise<void>): Promise<void> {
    this.attempts.length = 0
    return (this.#restoring ??= restore().finally(() => (this.#restoring = undefined)))
  }

  /** Closes the channel, and continues on another channel. The connection stays open. */
  async replaceChannel(channel: Channel): Promise<void> {
    await this.channel?.close()
    this.reopen()
    this.channel = channel
  }

  /** Clears the closed state after the channel was reopened. */
  reopen(): void {
    this.#closeError = undefined
  }

  /** Rejects all requests in flight, because nothing more will arrive. */
  rejectAll(cause?: Error): void {
    if (this.#closeError) return
    const hint = this.#isClosedByApplication
      ? ': the client was closed first: use "return await"'
      : ''
    const reason = cause ? `: ${cause.message}` : hint
    this.#closeError = new SdkError('CLOSED', `The connection is closed${reason}`, { cause })
    this.inputHandlers.close?.()
    this.changes?.close()
    for (const call of this.calls.values()) call.reject(this.#closeError)
  }

  /** Closes the connection. Safe to call twice. */
  async close(): Promise<void> {
    this.#isClosedByApplication = true
    this.rejectAll()
    await this.channel?.close()
  }
}
