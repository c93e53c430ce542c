/**
 * A session, in the revisions that have sessions: what client and server negotiated, and the open requests.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
 */
import { Cancellation, clientCancelled } from '../patterns/cancellation.ts'
import { MAX_TIMER_MS } from '../patterns/timers.ts'
import { SdkError, ProtocolError } from '../protocol/errors.ts'
import { INTERNAL_ERROR, INVALID_REQUEST } from '../protocol/error-codes.ts'
import { notification } from '../protocol/jsonrpc.ts'
import type { Revision } from '../protocol/revisions.ts'
import type {
  ClientCapabilities,
  Implementation,
  LoggingLevel,
  JsonObject,
  JsonRpcMessage,
  JsonRpcResponse,
  RequestId,
} from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'

/**
 * The stored part of a session, which is plain JSON.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
 */
export interface SessionRecord {
  /** The negotiated protocol revision. */
  revision: Revision
  /** The name and version of the client, as the client reports them. */
  clientInfo: Implementation
  /** The capabilities that the client declared. */
  clientCapabilities: ClientCapabilities
  /** Whether `notifications/initialized` arrived. */
  initialized: boolean
  /** The level that `logging/setLevel` requested. */
  logLevel?: LoggingLevel
  /** The URIs of the resources to which the client subscribes. */
  subscriptions: string[]
  /** The ids of the URL elicitations whose completion has not been announced to the client yet. */
  elicitations?: string[]
  /**
   * Whether the client listens to changes. Matters only on Cloudflare, where the hub, a Durable Object, announces changes
   * to all sessions.
   *
   * - `true`: The client has opened a stream for changes.
   * - `false`: The client has closed the stream, and has a limited time to open it again.
   * - Absent: The client has never opened such a stream.
   */
  listens?: boolean
  /** The principal that opened the session. No other principal may use the session. */
  principal?: string
}

/** The URIs of resources and the ids of elicitations about which a session is notified. */
export function topicsOf({ subscriptions, elicitations = [] }: SessionRecord): string[] {
  return [...subscriptions, ...elicitations]
}

/** How a request to the client is sent, and how long it may take. */
export interface SendOptions {
  /** Sends the message, for example on the stream of the client's request that needs the answer. */
  send: (message: JsonRpcMessage) => void
  signal: AbortSignal
  /** How long the client may take to respond, in milliseconds. The default is 300,000. */
  timeoutMs?: number | undefined
}

interface SentRequest {
  resolve: (result: JsonObject) => void
  reject: (error: Error) => void
}

/** A session in memory: its record, and the open requests in both directions. */
export class Session {
  readonly record: SessionRecord
  /** The name, version and capabilities that the client reported. */
  readonly client: { readonly info: Implementation; readonly capabilities: ClientCapabilities }
  /** The client's requests that are being handled, by id. */
  readonly inFlight: Map<RequestId, Cancellation> = new Map()
  /** Cancelled when the session ends. */
  readonly life: Cancellation = new Cancellation()
  /** The requests to the client that are open, by id. */
  readonly #sentRequests = new Map<RequestId, SentRequest>()
  /** The highest id of a request to the client. */
  lastId: number

  /**
   * @param lastId The highest id of earlier requests to the client.
   */
  constructor(record: SessionRecord, lastId = 0) {
    this.record = record
    this.client = { info: record.clientInfo, capabilities: record.clientCapabilities }
    this.lastId = lastId
  }

  /**
   * Adds a request of the client, whose handling begins.
   *
   * @throws {ProtocolError} `INVALID_REQUEST` if the id is already in use. `INTERNAL_ERROR` if the session
   *   has ended, which can happen between two requests of a batch.
   */
  openRequest(id: RequestId): Cancellation {
    if (this.life.cancelled) throw new ProtocolError(INTERNAL_ERROR, 'The session ended')
    if (this.inFlight.has(id)) throw idInUse(id)
    const cancellation = new Cancellation()
    this.inFlight.set(id, cancellation)
    return cancellation
  }

  /** Removes a request of the client after it was answered. */
  closeRequest(id: RequestId): void {
    this.inFlight.delete(id)
  }

  /** Whether a request to the client has no response yet. */
  get awaitsResponse(): boolean {
    return this.#sentRequests.size > 0
  }

  /** Sends a request to the client and waits for its response. */
  async sendRequest(
    method: string,
    params: JsonObject | undefined,
    options: SendOptions,
  ): Promise<JsonObject> {
    const { send, signal, timeoutMs = 300_000 } = options
    signal.throwIfAborted()
    const id = ++this.lastId
    const answer = new Promise<JsonObject>((resolve, reject) => {
      this.#sentRequests.set(id, { resolve, reject })
    })
    const cancel = (error: Error): void => {
      this.#sentRequests.get(id)?.reject(error)
      send(notification('notifications/cancelled', { requestId: id, reason: error.message }))
    }
    const timer = setTimeout(
      () => cancel(new SdkError('TIMEOUT', `The client did not answer "${method}" in time`)),
      Math.min(timeoutMs, MAX_TIMER_MS),
    )
    const onAbort = (): void => cancel(signal.reason as Error)
    signal.addEventListener('abort', onAbort)
    try {
      send(params ? { jsonrpc: '2.0', id, method, params } : { jsonrpc: '2.0', id, method })
      return await answer
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      this.#sentRequests.delete(id)
    }
  }

  /** Settles the request to which the client has responded. Returns whether there is such a request. */
  receiveResponse(response: JsonRpcResponse): boolean {
    const pending = response.id === undefined ? undefined : this.#sentRequests.get(response.id)
    if (!pending) return false
    if ('result' in response) pending.resolve(response.result)
    else {
      const { code, message, data } = response.error
      pending.reject(new ProtocolError(code, message, data))
    }
    return true
  }

  /**
   * Rejects the open request that a malformed response answers, because no other response will follow.
   */
  rejectPending(malformed: unknown, { message }: Error): void {
    if (!isObject(malformed) || 'method' in malformed) return
    const request = this.#sentRequests.get(malformed.id as RequestId)
    request?.reject(new SdkError('INVALID_MESSAGE', message))
  }

  /** Cancels a request of the client after `notifications/cancelled`. Ignores unknown ids. */
  cancelRequest(id: unknown, reason: unknown): void {
    this.inFlight.get(id as RequestId)?.cancel(clientCancelled(reason))
  }

  /** Cancels the client's requests, and rejects the requests to the client. */
  close(): void {
    const error = new SdkError('CLOSED', 'The session is closed')
    this.life.cancel(error)
    for (const cancellation of this.inFlight.values()) cancellation.cancel(error)
    for (const { reject } of this.#sentRequests.values()) reject(error)
    this.inFlight.clear()
    this.#sentRequests.clear()
  }
}

/** Creates the error for a request with the id of another open request. */
export function idInUse(id: RequestId): ProtocolError {
  return new ProtocolError(INVALID_REQUEST, `Request id ${JSON.stringify(id)} is already in use`)
}
