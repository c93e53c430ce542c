/**
 * Waits until a task finishes. Polls the task at the interval that the server suggests, receives the task's
 * notifications if the server sends them, and answers the task's requests for input.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 */
import { MAX_TIMER_MS } from '../patterns/timers.ts'
import { isTransient } from '../patterns/transient.ts'
import { SdkError, ProtocolError } from '../protocol/errors.ts'
import type { Result, DetailedTask } from '../protocol/types.ts'
import {
  ANSWERED_LATER,
  startedOperation,
  type RepeatedRequestOptions,
} from '../client/client-extension.ts'
import { abortReason, sleep } from '../patterns/abort.ts'
import { cancelTask, getTask, requireDetailedTask } from './get-task.ts'
import { pollDelayMs, pollTimeoutMs, noResultError } from './poll-interval.ts'
import { createTaskReporter, type AwaitedTask } from './polling.ts'
import { isFinal } from './record.ts'
import { TaskInput } from './task-input.ts'

/** The number of polls before the client subscribes to notifications. */
const POLLS_BEFORE_SUBSCRIBING = 2
/** The shortest poll interval while the server sends notifications, in milliseconds. */
const SUBSCRIBED_POLL_MS = 30_000

/**
 * Resolves with the result of the original request. Aborting cancels the task.
 *
 * @throws {ProtocolError} The error with which the task failed; `INVALID_PARAMS` if the task does
 *   not exist or has expired.
 * @throws {SdkError} `ABORTED` if the task was cancelled by any party. `TIMEOUT` if the caller's or
 *   the server's time limit has passed; `data.taskId` then has the id of the task, because the task
 *   may still be running. `DENIED` or `INVALID_MESSAGE` if the task's request for input could not be
 *   answered, or the server rejected the answer; the client then cancels the task.
 */
export async function waitForTask(awaited: AwaitedTask): Promise<Result> {
  const { callOptions } = awaited
  const wait = new TaskWait(awaited)
  try {
    return await wait.run()
  } catch (error) {
    const givesUp =
      callOptions.signal?.aborted ||
      (wait.input.failure && !willCallerRepeatWithInput(callOptions, error)) ||
      (error instanceof SdkError && error.code === 'INVALID_MESSAGE')
    // Not awaited, so that the caller receives the error immediately
    if (givesUp) cancelTask(awaited.client, awaited.taskId).catch(() => {})
    throw error
  }
}

/**
 * Whether the error asks the caller for input, and the caller then repeats the call with the input. The
 * repeated call continues to poll the task. Only callers that pass the option `startedOperation` repeat calls.
 */
function willCallerRepeatWithInput(
  { [startedOperation]: operation }: RepeatedRequestOptions,
  error: unknown,
): boolean {
  return operation !== undefined && error instanceof ProtocolError && error.code === ANSWERED_LATER
}

/** Waits until one task finishes. */
class TaskWait {
  readonly #awaited: AwaitedTask
  readonly #report: (task: DetailedTask) => void
  readonly #startedAt = performance.now()
  readonly input: TaskInput
  #task: DetailedTask | undefined
  /** The state in the last notification, until it is processed. */
  #notified: DetailedTask | undefined
  /** Ends the current wait early. */
  #endWait: (() => void) | undefined
  #isSubscribed = false
  #triedToSubscribe = false
  #failures = 0
  #polls = 0

  constructor(awaited: AwaitedTask) {
    this.#awaited = awaited
    this.#report = createTaskReporter(awaited.pollingOptions, awaited.callOptions)
    this.input = new TaskInput(
      awaited,
      () => this.#poll(),
      () => this.#endWait?.(),
    )
  }

  /** Resolves with the result of the task. */
  async run(): Promise<Result> {
    const { task: knownTask, pollingOptions } = this.#awaited
    const runEnd = new AbortController()
    this.#apply(knownTask)
    try {
      for (;;) {
        const task = this.#task
        const result = task && resultOf(task)
        if (result) return result
        if (task) {
          this.input.answer(task, runEnd.signal)
          await this.#pause(task)
        }
        if (this.input.failure) throw this.input.failure.error
        if (this.#polls >= POLLS_BEFORE_SUBSCRIBING && pollingOptions.notifications !== false)
          this.#subscribe(runEnd.signal)
        const notified = this.#notified
        this.#notified = undefined
        if (!notified) this.#apply(await this.#poll())
        else if (!this.#isStale(notified)) this.#apply(notified)
      }
    } finally {
      runEnd.abort()
    }
  }

  /**
   * Replaces the known state. A polled state is always current, whatever its timestamp says. The state in a
   * notification may be older, so `run` checks it with {@link #isStale} first.
   */
  #apply(task: DetailedTask | undefined): void {
    if (!task) return
    this.#task = task
    this.#report(task)
  }

  /** Whether the state in a notification is older than the known state. A final state is never stale. */
  #isStale(notified: DetailedTask): boolean {
    return !isFinal(notified) && notified.lastUpdatedAt < (this.#task?.lastUpdatedAt ?? '')
  }

  /** Polls once. Resolves with `undefined` after a transient error. */
  async #poll(): Promise<DetailedTask | undefined> {
    const { client, taskId, callOptions } = this.#awaited
    const { signal, timeoutMs } = callOptions
    this.#polls++
    try {
      const task = await getTask(client, taskId, { signal, timeoutMs })
      this.#failures = 0
      return task
    } catch (error) {
      if (!isTransient(error)) throw error
      this.#failures++
      // If the state of the task is known, `run` pauses before the next poll
      if (!this.#task) await this.#wait(this.#intervalMs())
      return undefined
    }
  }

  /** Waits until the next poll is due or a notification arrives. */
  async #pause(task: DetailedTask): Promise<void> {
    if (this.#notified || this.input.failure) return
    const intervalMs = this.#intervalMs(task.pollIntervalMs)
    await this.#wait(this.#isSubscribed ? Math.max(intervalMs, SUBSCRIBED_POLL_MS) : intervalMs)
  }

  #intervalMs(suggestedMs = this.#task?.pollIntervalMs): number {
    return pollDelayMs(suggestedMs, this.#failures, this.#awaited.pollingOptions)
  }

  /**
   * Waits for a time, or until `#endWait` is called.
   *
   * @throws {SdkError} `TIMEOUT` if the time limit has passed; `ABORTED` if the caller aborted.
   */
  async #wait(delayMs: number): Promise<void> {
    const { signal } = this.#awaited.callOptions
    const remainingMs = this.#deadline() - performance.now()
    if (remainingMs <= 0) throw noResultError('TIMEOUT', this.#awaited.taskId)
    const controller = new AbortController()
    const stop = (): void => controller.abort()
    signal?.addEventListener('abort', stop)
    this.#endWait = stop
    await sleep(Math.min(delayMs, remainingMs, MAX_TIMER_MS), controller.signal).catch(() => {})
    this.#endWait = undefined
    signal?.removeEventListener('abort', stop)
    if (signal?.aborted) throw abortReason(signal)
  }

  /** The deadline of the caller, or the time when the server may delete the task, whichever is earlier. */
  #deadline(): number {
    const { maxTimeoutMs = Infinity } = this.#awaited.callOptions
    // The task's creation time is not used, because it comes from the server's clock, which may differ
    return this.#startedAt + Math.min(maxTimeoutMs, pollTimeoutMs(this.#task?.ttlMs))
  }

  /**
   * Subscribes to the task's notifications if the server supports them. Otherwise polling
   * continues.
   */
  #subscribe(signal: AbortSignal): void {
    const { client, taskId } = this.#awaited
    if (this.#triedToSubscribe || !client.listen) return
    this.#triedToSubscribe = true
    const subscribing = client.listen({ taskIds: [taskId] }, { signal })
    const receive = async (): Promise<void> => {
      const subscription = await subscribing
      const { taskIds } = subscription.filter
      this.#isSubscribed = Array.isArray(taskIds) && taskIds.includes(taskId)
      if (!this.#isSubscribed) return subscription.close()
      for await (const { method, params } of subscription) {
        if (method !== 'notifications/tasks' || params?.taskId !== taskId) continue
        this.#notified = requireDetailedTask(params, taskId)
        this.#endWait?.()
      }
    }
    const onEnd = (): void => {
      this.#isSubscribed = false
      // The next poll detects whether the stream has ended because the client was closed
      this.#endWait?.()
    }
    receive().then(onEnd, onEnd)
  }
}

/**
 * The result of a task; `undefined` while the task is running.
 *
 * @throws {ProtocolError} The error with which the task failed.
 * @throws {SdkError} `ABORTED` if the task was cancelled; `INVALID_MESSAGE` for an invalid result.
 */
function resultOf(task: DetailedTask): Result | undefined {
  const { taskId, status, result, error } = task
  if (status === 'completed') {
    if ((result?.resultType ?? 'complete') === 'complete') return result
    const message = `The task "${taskId}" ended with an invalid result`
    throw new SdkError('INVALID_MESSAGE', message, { data: result })
  }
  if (status === 'failed' && error) {
    throw new ProtocolError(error.code, String(error.message), error.data)
  }
  if (status === 'cancelled') throw noResultError('ABORTED', taskId)
  return undefined
}
