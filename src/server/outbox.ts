/**
 * What a server sends on a duplex connection. Nobody waits for it: that the connection is closed is
 * noticed by who receives.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */
import { ignore } from '../patterns/hooks.ts'
import type { Cancellation } from '../patterns/cancellation.ts'
import {
  writable,
  type Answer,
  type JsonRpcMessage,
  type JsonRpcNotification,
} from '../protocol/jsonrpc.ts'
import type { Transport } from '../protocol/transport.ts'

/** Sends until it is closed, and nothing afterwards. */
export class Outbox {
  readonly #transport: Transport
  readonly #report: (error: unknown) => void
  #closed = false

  /** @param report Learns of answers that cannot be written. */
  constructor(transport: Transport, report: (error: unknown) => void) {
    this.#transport = transport
    this.#report = report
  }

  /** Sends a message. */
  send(message: JsonRpcMessage): void {
    if (!this.#closed) this.#transport.send(message).catch(ignore)
  }

  /** Sends a notification of a request, unless that was cancelled; resolves when it was taken. */
  sendFor(open: Cancellation, message: JsonRpcNotification): Promise<void> | undefined {
    return open.cancelled || this.#closed ? undefined : this.#transport.send(message).catch(ignore)
  }

  /** Sends an answer; what cannot be written of it becomes an internal error. */
  reply(answer: Answer): void {
    if (this.#closed) return
    this.#transport
      .send(answer)
      .catch(() => {
        // The answers to a batch were written before
        const written = Array.isArray(answer) ? answer : writable(answer, this.#report)
        return written === answer ? undefined : this.#transport.send(written)
      })
      .catch(ignore)
  }

  /** Sends nothing any more. */
  close(): void {
    this.#closed = true
  }
}
