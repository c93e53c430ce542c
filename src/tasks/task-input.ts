/**
 * Answers the input requests of a task, while the client waits for the task to finish.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 */
import { sleep } from '../patterns/abort.ts'
import { isTransient } from '../patterns/transient.ts'
import { SdkError, ProtocolError } from '../protocol/errors.ts'
import type { DetailedTask, InputRequest } from '../protocol/types.ts'
import { pollDelayMs } from './poll-interval.ts'
import type { AwaitedTask } from './polling.ts'

/** After a failed request, there is no poll interval that the server has suggested. */
const NO_SUGGESTION = undefined

/** Answers the input requests of one task. */
export class TaskInput {
  readonly #awaited: AwaitedTask
  readonly #poll: () => Promise<DetailedTask | undefined>
  readonly #onFailure: () => void
  /** The keys of the requests that were answered or are being answered. */
  readonly #answered = new Set<string>()
  /** The error because of which a request could not be answered. */
  failure: { error: unknown } | undefined

  /**
   * @param poll Returns the current state of the task; `undefined` after a transient error.
   * @param onFailure Called when {@link failure} is set.
   */
  constructor(
    awaited: AwaitedTask,
    poll: () => Promise<DetailedTask | undefined>,
    onFailure: () => void,
  ) {
    this.#awaited = awaited
    this.#poll = poll
    this.#onFailure = onFailure
  }

  /**
   * Starts to answer the input requests that were not answered before. Polling continues meanwhile, because another
   * client may answer first, and the task may finish while an input request is pending.
   *
   * @param signal Aborts when the client no longer waits for the task. An answer that was sent is not aborted.
   */
  answer({ inputRequests = {} }: DetailedTask, signal: AbortSignal): void {
    const unanswered = Object.entries(inputRequests).filter(([key]) => !this.#answered.has(key))
    if (unanswered.length === 0) return
    for (const [key] of unanswered) this.#answered.add(key)
    const newRequests = Object.fromEntries(unanswered)
    this.#sendAnswers(newRequests, signal).catch(async (error: unknown) => {
      if (signal.aborted) return
      if (error instanceof ProtocolError && !(await this.#needsInput(newRequests))) return
      this.failure ??= { error }
      this.#onFailure()
    })
  }

  /**
   * Whether the task still needs the input. If it does not, another client has answered first. It then does not
   * matter that the server has rejected this client's answer.
   */
  async #needsInput(requests: { [key: string]: InputRequest }): Promise<boolean> {
    const task = await this.#poll().catch(() => undefined)
    const inputRequests = task ? (task.inputRequests ?? {}) : requests
    return Object.keys(requests).some((key) => Object.hasOwn(inputRequests, key))
  }

  /**
   * Answers requests with the client's handlers. Sends the answers repeatedly until the server has received
   * them.
   */
  async #sendAnswers(
    inputRequests: { [key: string]: InputRequest },
    signal: AbortSignal,
  ): Promise<void> {
    const { client, taskId, callOptions, pollingOptions } = this.#awaited
    const inputResponses = await client.answerInputs?.(
      'tools/call',
      inputRequests,
      signal,
      callOptions,
    )
    if (!inputResponses) {
      const message = `The task "${taskId}" requests input, which this client does not support`
      throw new SdkError('INVALID_MESSAGE', message)
    }
    const { timeoutMs, signal: callerSignal } = callOptions
    for (let failures = 1; ; failures++) {
      signal.throwIfAborted()
      try {
        await client.request(
          'tasks/update',
          { taskId, inputResponses },
          { signal: callerSignal, timeoutMs },
        )
        return
      } catch (error) {
        if (!isTransient(error)) throw error
        await sleep(pollDelayMs(NO_SUGGESTION, failures, pollingOptions), signal)
      }
    }
  }
}
