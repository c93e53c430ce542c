/**
 * The questions of this process, which are its requests to the client of a session. The client may send its
 * answers to any process.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
 */
import type { JsonRpcResponse } from '../../protocol/types.ts'
import type { Session } from '../../session/session.ts'
import type { StoredAnswer } from './table.ts'

/** The maximum number of open questions of one session for which this process checks for answers. */
const MAX_ASKED = 1000

/** The open questions of one session in this process. */
export class Questions {
  readonly #session: Session
  readonly #onStoredAnswer: (question: number) => void
  readonly #asked = new Set<number>()

  /** @param onStoredAnswer Called when a question was answered, and the table of answers contains the answer. */
  constructor(session: Session, onStoredAnswer: (question: number) => void) {
    this.#session = session
    this.#onStoredAnswer = onStoredAnswer
  }

  /** The ids of the questions. */
  get ids(): number[] {
    return [...this.#asked]
  }

  /** Adds a question. At the limit, removes the oldest question, which timed out long ago. */
  add(question: number): void {
    this.#asked.add(question)
    const [oldest] = this.#asked
    if (this.#asked.size > MAX_ASKED && oldest !== undefined) this.#asked.delete(oldest)
  }

  /**
   * Settles the question that a response answers. Returns whether there is such a question.
   *
   * @param how.isStored Whether the answer is in the table of answers.
   */
  receiveResponse(response: JsonRpcResponse, how: { isStored: boolean }): boolean {
    const isSettled = this.#session.receiveResponse(response)
    if (isSettled) this.#remove(Number(response.id), how)
    return isSettled
  }

  /** Settles a question with an answer from the table of answers. */
  receiveStored(answer: StoredAnswer): void {
    const { id, malformed } = answer
    if (malformed && 'error' in answer) {
      this.#session.rejectPending({ id }, new Error(answer.error.message))
      this.#remove(Number(id), { isStored: true })
    } else this.receiveResponse(answer, { isStored: true })
  }

  #remove(question: number, { isStored }: { isStored: boolean }): void {
    this.#asked.delete(question)
    if (isStored) this.#onStoredAnswer(question)
  }
}
