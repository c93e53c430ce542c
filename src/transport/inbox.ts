/**
 * A queue of messages for a receiver that may be busy: delivers one at a time, in order, up to a
 * limit.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#custom-transports
 */
import { SdkError } from '../protocol/errors.ts'
import type { Receiver } from '../protocol/transport.ts'

/** The maximum number of queued messages. */
const MAX_QUEUED = 10_000

/** Messages that arrive faster than they are processed. */
export class Inbox {
  readonly #take: Receiver['message']
  readonly #fail: (reason: SdkError) => void
  /** The queued messages; absent while the receiver is idle. */
  #waiting: unknown[] | undefined

  /** @param fail Called when the queue is full. */
  constructor(take: Receiver['message'], fail: (reason: SdkError) => void) {
    this.#take = take
    this.#fail = fail
  }

  deliver(frame: unknown): void {
    if (this.#waiting) {
      this.#waiting.push(frame)
      if (this.#waiting.length <= MAX_QUEUED) return
      return this.#fail(new SdkError('LIMIT_EXCEEDED', 'Too many messages are waiting to be read'))
    }
    const handled = this.#take(frame)
    if (handled) void this.#wait(handled)
  }

  async #wait(taken: Promise<void>): Promise<void> {
    const waiting: unknown[] = (this.#waiting = [])
    try {
      await taken
      while (waiting.length > 0) await this.#take(waiting.shift())
    } catch (cause) {
      this.#fail(new SdkError('CLOSED', 'The receiver of the messages failed', { cause }))
    }
    this.#waiting = undefined
  }
}
