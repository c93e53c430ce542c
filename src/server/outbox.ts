/**
 * Outgoing messages of a server on a duplex connection. Errors while sending are ignored, because
 * the code that receives messages detects that the connection is closed.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */
import { ignore } from '../patterns/hooks.ts'
import type { Cancellation } from '../patterns/cancellation.ts'
import { ensureSerializable, type Answer } from '../protocol/jsonrpc.ts'
import type { JsonRpcMessage, JsonRpcNotification } from '../protocol/types.ts'
import type { Transport } from '../protocol/transport.ts'

/** Sends messages until it is closed. */
export class Outbox {
  readonly #transport: Pick<Transport, 'send'>
  readonly #report: (error: unknown) => void
  #closed = false

  /** @param report Receives the errors of responses that cannot be serialized. */
  constructor(transport: Pick<Transport, 'send'>, report: (error: unknown) => void) {
    this.#transport = transport
    this.#report = report
  }

  /**
   * Sends a message. The promise resolves when the message was sent, or with the error if sending
   * failed. Only observers need the error. Returns `undefined` after {@link close}.
   */
  send(message: JsonRpcMessage): Promise<unknown> | undefined {
    return this.#closed ? undefined : this.#transport.send(message).catch((error: unknown) => error)
  }

  /** Sends a notification that belongs to a request, unless the request was cancelled. See {@link send}. */
  sendFor(cancellation: Cancellation, message: JsonRpcNotification): Promise<unknown> | undefined {
    return cancellation.cancelled ? undefined : this.send(message)
  }

  /** Sends an answer. For a response that cannot be serialized, sends an internal error. */
  reply(answer: Answer): void {
    if (this.#closed) return
    this.#transport
      .send(answer)
      .catch(() => {
        // `answerEach` has already checked that all responses to a batch can be serialized
        const serializable = Array.isArray(answer)
          ? answer
          : ensureSerializable(answer, this.#report)
        return serializable === answer ? undefined : this.#transport.send(serializable)
      })
      .catch(ignore)
  }

  /** Stops sending. */
  close(): void {
    this.#closed = true
  }
}
