/**
 * The server side of a connection between Workers. The calling Worker sends a message by calling a method,
 * which returns the response.
 *
 * @see https://developers.cloudflare.com/workers/runtime-apis/rpc/lifecycle/
 */
import { RpcTarget } from 'cloudflare:workers'
import {
  errorResponse,
  HttpError,
  isObject,
  onAuthorizationEnd,
  Outbox,
  ServerConnection,
  writeJson,
  type Answer,
  type ServerConnectionOptions,
  type ServerDefinition,
} from '#internal/connection'
import { ErrorCode, ProtocolError, SdkError, type JsonRpcMessage } from '../../src/index.ts'
import { parseText, requireSendable, type RpcReceiver } from './rpc-messages.ts'

/** The maximum number of messages that are queued for a caller that reads too slowly. */
const MAX_WAITING = 10_000

/** The limits of one connection. */
export interface RpcLimits {
  /** The longest message that is accepted, in UTF-16 units. */
  readonly maxLength: number
  /** The maximum number of calls that are open at a time. */
  readonly maxOpenCalls: number
}

/** The options of a connection. */
export interface RpcConnectionOptions extends ServerConnectionOptions, RpcLimits {
  /** Called once when the connection is closed. */
  readonly onClosed: () => void
}

/** Serves one connection from another Worker. */
export class RpcConnection extends RpcTarget {
  readonly #server: ServerDefinition
  readonly #receiver: Rpc.Stub<RpcReceiver>
  readonly #options: RpcConnectionOptions
  readonly #connection: ServerConnection
  /** The functions that settle the open calls when the connection closes. */
  readonly #openCalls = new Set<(answer: null) => void>()
  readonly #stopWatching: () => void
  /** Resolves when the caller has received the last message that was sent to it. */
  #lastDelivery: Promise<void> | undefined
  /** The number of messages that the caller has not received yet. */
  #waitingCount = 0
  #closed = false

  /** @param receiver The client side of the connection, which this connection releases when it closes. */
  constructor(
    server: ServerDefinition,
    receiver: Rpc.Stub<RpcReceiver>,
    options: RpcConnectionOptions,
  ) {
    super()
    this.#server = server
    this.#receiver = receiver
    this.#options = options
    const report = (error: unknown): void => server.report(error)
    const outbox = new Outbox({ send: (frame) => this.#post(frame) }, report)
    this.#connection = new ServerConnection(server, outbox, options)
    this.#stopWatching = onAuthorizationEnd(options.caller ?? {}, () => this.close())
  }

  /**
   * Called by the calling Worker to send a message, or a batch, to the server.
   *
   * @returns The response; `null` for a message that gets none, and when the connection is closed.
   */
  send(text: string): Promise<string | null> {
    if (this.#closed) return Promise.resolve(null)
    return new Promise((resolve, reject) => {
      this.#openCalls.add(resolve)
      this.#answer(text)
        .finally(() => this.#openCalls.delete(resolve))
        .then(resolve, reject)
    })
  }

  /** Cancels the calls that the caller still waits for, and releases the client side. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#stopWatching()
    this.#connection.close()
    for (const settle of this.#openCalls) settle(null)
    this.#receiver[Symbol.dispose]()
    this.#options.onClosed()
  }

  /** Called by the runtime when the calling Worker has released this connection, or has ended. */
  [Symbol.dispose](): void {
    this.close()
  }

  /** Handles a message. Resolves with its response, if it has one. */
  async #answer(text: unknown): Promise<string | null> {
    const { authorizer, caller = {} } = this.#options
    let frame: unknown
    let answer: Answer | undefined
    try {
      frame = this.#parse(text)
      this.#requireRoom(frame)
      authorizer?.authorize(frame, caller, this.#server)
      answer = await this.#connection.receive(frame)
    } catch (error) {
      const reason = error instanceof HttpError ? error.error : (error as Error)
      answer = this.#connection.refuse(frame, reason)
    }
    // The response must not overtake messages that were sent before it
    if (this.#lastDelivery) await this.#lastDelivery
    return answer ? this.#write(answer) : null
  }

  /** @throws {ProtocolError} If a message is too long, or not JSON. */
  #parse(text: unknown): unknown {
    const { maxLength } = this.#options
    if (typeof text !== 'string' || text.length <= maxLength) return parseText(text)
    const message = `The message is longer than ${maxLength} characters`
    throw new ProtocolError(ErrorCode.INVALID_REQUEST, message)
  }

  /** @throws {ProtocolError} If too many calls are open, and the message is a call or a batch. */
  #requireRoom(frame: unknown): void {
    const { maxOpenCalls } = this.#options
    // `#openCalls` already includes this message
    if (this.#openCalls.size <= maxOpenCalls) return
    // Notifications and responses are always accepted, because the caller needs them to cancel and to respond
    if (isObject(frame) && !('method' in frame && 'id' in frame)) return
    const message = `More than ${maxOpenCalls} calls are open on this connection`
    throw new ProtocolError(ErrorCode.INTERNAL_ERROR, message)
  }

  /** Writes an answer. If it cannot be sent, writes an error instead. */
  #write(answer: Answer): string {
    try {
      return requireSendable(writeJson(answer))
    } catch (error) {
      this.#server.report(error)
      const { code, message } = error as SdkError
      const reason = code === 'LIMIT_EXCEEDED' ? message : 'Internal error'
      const responses = [answer].flat().map(({ id }) => {
        return errorResponse(id, { code: ErrorCode.INTERNAL_ERROR, message: reason })
      })
      return JSON.stringify(Array.isArray(answer) ? responses : responses[0])
    }
  }

  /** Sends a message to the caller. Closes the connection if too many messages already wait. */
  async #post(message: JsonRpcMessage | readonly JsonRpcMessage[]): Promise<void> {
    if (this.#waitingCount === MAX_WAITING) {
      this.#server.report(new SdkError('LIMIT_EXCEEDED', 'The calling Worker reads too slowly'))
      this.close()
    }
    if (this.#closed) throw new SdkError('CLOSED', 'Cannot send: the connection is closed')
    const delivery = this.#deliver(message)
    this.#lastDelivery = delivery
    await delivery
    if (this.#lastDelivery === delivery) this.#lastDelivery = undefined
  }

  /** Sends a message to the caller, and waits until the caller has received it. Never rejects. */
  async #deliver(message: JsonRpcMessage | readonly JsonRpcMessage[]): Promise<void> {
    this.#waitingCount++
    try {
      await this.#receiver.receive(requireSendable(writeJson(message)))
    } catch (error) {
      // Any other error means that the caller has ended. The runtime then disposes of this connection
      if (error instanceof SdkError) this.#server.report(error)
    }
    this.#waitingCount--
  }
}
