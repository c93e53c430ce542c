/**
 * Messages on their way to a receiver that may be busy: one at a time, in their order, and not more
 * than memory is for.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#custom-transports
 */
import { McpError } from '../protocol/errors.ts'
import type { Receiver } from '../protocol/transport.ts'

/** How many messages may wait. */
const MAX_WAITING = 10_000

/** What arrives faster than it is taken. */
export class Inbox {
  readonly #take: Receiver['message']
  readonly #fail: (reason: McpError) => void
  /** What waits; absent while the receiver is not busy. */
  #waiting: unknown[] | undefined

  /** @param fail Learns that nothing more can be taken. */
  constructor(take: Receiver['message'], fail: (reason: McpError) => void) {
    this.#take = take
    this.#fail = fail
  }

  deliver(frame: unknown): void {
    if (this.#waiting) {
      this.#waiting.push(frame)
      if (this.#waiting.length <= MAX_WAITING) return
      return this.#fail(new McpError('LIMIT_EXCEEDED', 'Too many messages wait to be taken'))
    }
    const taken = this.#take(frame)
    if (taken) void this.#wait(taken)
  }

  async #wait(taken: Promise<void>): Promise<void> {
    const waiting: unknown[] = (this.#waiting = [])
    try {
      await taken
      while (waiting.length > 0) await this.#take(waiting.shift())
    } catch (cause) {
      this.#fail(new McpError('CLOSED', 'The receiver of the messages failed', { cause }))
    }
    this.#waiting = undefined
  }
}
