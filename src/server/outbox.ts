/**
 * Outgoing messages of a server on a duplex connection. Errors of sending are ignored: the code that
 * receives messages detects that the connection is closed.
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
   * Sends a message. The promise resolves when the message was sent. If sending fails, it resolves
   * with the error, which only observers need.
   */
  send(message: JsonRpcMessage): Promise<unknown> | undefined {
    return this.#closed ? undefined : this.#transport.send(message).catch((error: unknown) => error)
  }

  /** Sends a request's notification like {@link send}, unless the request was cancelled. */
  sendFor(cancellation: Cancellation, message: JsonRpcNotification): Promise<unknown> | undefined {
    return cancellation.cancelled ? undefined : this.send(message)
  }

  /** Sends a response; if it cannot be serialized, sends an internal error instead. */
  reply(answer: Answer): void {
    if (this.#closed) return
    this.#transport
      .send(answer)
      .catch(() => {
        // Responses to a batch were already serialized
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
