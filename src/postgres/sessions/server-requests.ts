/**
 * The requests of this process to the client of a session. The client may send its answers to any process.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
 */
import type { JsonRpcResponse } from '../../protocol/types.ts'
import type { Session } from '../../session/session.ts'
import type { StoredAnswer } from './table.ts'

/** The maximum number of open requests to the client of one session for which this process checks for answers. */
const MAX_OPEN = 1000

/** The open requests of this process to the client of one session. */
export class ServerRequests {
  readonly #session: Session
  readonly #onStoredAnswer: (requestId: number) => void
  readonly #openIds = new Set<number>()

  /** @param onStoredAnswer Called when a request was answered, and the table of answers contains the answer. */
  constructor(session: Session, onStoredAnswer: (requestId: number) => void) {
    this.#session = session
    this.#onStoredAnswer = onStoredAnswer
  }

  /** The ids of the requests. */
  get ids(): number[] {
    return [...this.#openIds]
  }

  /** Adds a request. At the limit, removes the oldest request, which timed out long ago. */
  add(requestId: number): void {
    this.#openIds.add(requestId)
    const [oldest] = this.#openIds
    if (this.#openIds.size > MAX_OPEN && oldest !== undefined) this.#openIds.delete(oldest)
  }

  /**
   * Settles the request that a response answers. Returns whether there is such a request.
   *
   * @param how.isStored Whether the answer is in the table of answers.
   */
  receiveResponse(response: JsonRpcResponse, how: { isStored: boolean }): boolean {
    const isSettled = this.#session.receiveResponse(response)
    if (isSettled) this.#remove(Number(response.id), how)
    return isSettled
  }

  /** Settles a request with an answer from the table of answers. */
  receiveStored(answer: StoredAnswer): void {
    const { id, malformed } = answer
    if (malformed && 'error' in answer) {
      this.#session.rejectPending({ id }, new Error(answer.error.message))
      this.#remove(Number(id), { isStored: true })
    } else this.receiveResponse(answer, { isStored: true })
  }

  #remove(requestId: number, { isStored }: { isStored: boolean }): void {
    this.#openIds.delete(requestId)
    if (isStored) this.#onStoredAnswer(requestId)
  }
}
