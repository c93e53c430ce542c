/**
 * A queue of messages for a receiver that may be busy. Delivers one message at a time, in order. The
 * length of the queue is limited.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#custom-transports
 */
import { SdkError } from '../protocol/errors.ts'
import type { Receiver } from '../protocol/transport.ts'

/** The maximum number of queued messages. */
const MAX_QUEUED = 10_000

/** Delivers messages to a receiver, and queues those that arrive while the receiver is busy. */
export class Inbox {
  readonly #receive: Receiver['message']
  readonly #onFailure: (reason: SdkError) => void
  /** The queued messages. Absent while the receiver is idle. */
  #waiting: unknown[] | undefined

  /** @param onFailure Called when the queue is full, or when the receiver fails. */
  constructor(receive: Receiver['message'], onFailure: (reason: SdkError) => void) {
    this.#receive = receive
    this.#onFailure = onFailure
  }

  deliver(frame: unknown): void {
    if (this.#waiting) {
      this.#waiting.push(frame)
      if (this.#waiting.length <= MAX_QUEUED) return
      return this.#onFailure(
        new SdkError('LIMIT_EXCEEDED', 'Too many messages are waiting to be read'),
      )
    }
    const handling = this.#receive(frame)
    if (handling) void this.#startQueue(handling)
  }

  /** Queues further messages until `handling` settles, and then delivers the queued messages. */
  async #startQueue(handling: Promise<void>): Promise<void> {
    const waiting: unknown[] = (this.#waiting = [])
    try {
      await handling
      while (waiting.length > 0) await this.#receive(waiting.shift())
    } catch (cause) {
      this.#onFailure(new SdkError('CLOSED', 'The receiver of the messages failed', { cause }))
    }
    this.#waiting = undefined
  }
}
