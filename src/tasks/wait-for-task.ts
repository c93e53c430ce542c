/**
 * Waits until a task finishes: polls it at the interval that the server suggests, or receives its
 * notifications if the server sends them, and answers its requests for input.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 */
import { callHook } from '../patterns/hooks.ts'
import { MAX_TIMER_MS } from '../patterns/timers.ts'
import { isTransient } from '../patterns/transient.ts'
import { SdkError, ProtocolError } from '../protocol/errors.ts'
import { INTERNAL_ERROR } from '../protocol/error-codes.ts'
import type { InputRequest, Result, DetailedTask } from '../protocol/types.ts'
import { startedOperation, type RepeatedRequestOptions } from '../client/client-extension.ts'
import type { ExtensionClient } from '../client/extension.ts'
import { abortReason, sleep } from '../patterns/abort.ts'
import type { RequestOptions } from '../client/request-options.ts'
import { cancelTask, getTask, requireDetailedTask } from './get-task.ts'
import { pollDelayMs, pollTimeoutMs, noResultError } from './poll-interval.ts'
import { isFinal } from './record.ts'

/** How tasks are polled. */
export interface TaskPollingOptions {
  /**
   * Poll interval if the server suggests none, in milliseconds.
   *
   * @default 1000
   */
  readonly pollIntervalMs?: number
  /**
   * The longest poll interval, regardless of the server's, in milliseconds.
   *
   * @default 60000
   */
  readonly maxPollIntervalMs?: number
  /**
   * Subscribes to notifications instead of polling if the server sends them.
   *
   * @default true
   */
  readonly notifications?: boolean
  /**
   * Called with the task at first and after every change. Store its id here so that another process
   * can resume polling.
   */
  readonly onTask?: (task: DetailedTask) => void
}

/** A task to wait for, and how. */
export interface AwaitedTask {
  readonly client: ExtensionClient
  readonly taskId: string
  readonly options: TaskPollingOptions
  readonly request: RequestOptions
  /** The last known state of the task. */
  readonly task?: DetailedTask | undefined
}

/** Reports each change of a task: to `onTask`, and as progress of the original call. */
export function taskReporter(
  { onTask }: TaskPollingOptions,
  { onProgress }: RequestOptions,
): (task: DetailedTask) => void {
  let progress = 0
  let lastReported: string | undefined
  return (task) => {
    const { status, statusMessage: message = status, lastUpdatedAt } = task
    const state = `${status} ${message} ${lastUpdatedAt}`
    if (state === lastReported) return
    lastReported = state
    callHook(() => onTask?.(task))
    progress++
    callHook(() => onProgress?.({ progressToken: task.taskId, progress, message }))
  }
}

/** A failed request contains no poll interval that the server suggests. */
const NO_SUGGESTION = undefined
/** Number of polls before subscribing to notifications. */
const POLLS_BEFORE_SUBSCRIBING = 2
/** How long polling pauses while the server sends notifications, in milliseconds. */
const SUBSCRIBED_POLL_MS = 30_000

/**
 * Resolves with the result of the original request. Aborting cancels the task.
 *
 * @throws {ProtocolError} The error that the task failed with; `INVALID_PARAMS` if the task does
 *   not exist or has expired.
 * @throws {SdkError} `ABORTED` if the task was cancelled by any party; `TIMEOUT` when the caller's
 *   or the server's time limit has passed, with the task's id in `data.taskId`, because the task may
 *   still be running; `DENIED` and `INVALID_MESSAGE` if its request for input could not be answered
 *   or the answer was rejected, which cancels the task.
 */
export async function waitForTask(awaited: AwaitedTask): Promise<Result> {
  const { request } = awaited
  const wait = new TaskWait(awaited)
  try {
    return await wait.run()
  } catch (error) {
    const givesUp =
      request.signal?.aborted ||
      (wait.inputError && !isAnsweredLater(request, error)) ||
      (error instanceof SdkError && error.code === 'INVALID_MESSAGE')
    // An aborted caller does not wait for the cancellation
    if (givesUp) cancelTask(awaited.client, awaited.taskId).catch(() => {})
    throw error
  }
}

/** Whether the caller answers with another call, which continues polling the task. */
function isAnsweredLater(
  { [startedOperation]: operation }: RepeatedRequestOptions,
  error: unknown,
): boolean {
  return operation !== undefined && error instanceof ProtocolError && error.code === INTERNAL_ERROR
}

class TaskWait {
  readonly #awaited: AwaitedTask
  readonly #report: (task: DetailedTask) => void
  readonly #startedAt = performance.now()
  /** The keys of requests that are answered or being answered. */
  readonly #answered = new Set<string>()
  #task: DetailedTask | undefined
  /** The state in the last notification, until it is processed. */
  #notified: DetailedTask | undefined
  #endPause: (() => void) | undefined
  /** The error because of which a request for input cannot be answered. */
  inputError: { error: unknown } | undefined
  #isSubscribed = false
  #hasSubscribed = false
  #failures = 0
  #polls = 0

  constructor(awaited: AwaitedTask) {
    this.#awaited = awaited
    this.#report = taskReporter(awaited.options, awaited.request)
  }

  async run(): Promise<Result> {
    const { task: knownTask, options } = this.#awaited
    const runEnd = new AbortController()
    this.#apply(knownTask)
    try {
      for (;;) {
        const task = this.#task
        const result = task && resultOf(task)
        if (result) return result
        if (task) {
          this.#answerRequests(task, runEnd.signal)
          await this.#pause(task)
        }
        if (this.inputError) throw this.inputError.error
        if (this.#polls >= POLLS_BEFORE_SUBSCRIBING && options.notifications !== false)
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
   * Replaces the known state, even by a state with an earlier timestamp, because polled states are current.
   */
  #apply(task: DetailedTask | undefined): void {
    if (!task) return
    this.#task = task
    this.#report(task)
  }

  /** Whether a notification has a state older than the known one. A final state is never stale. */
  #isStale(notified: DetailedTask): boolean {
    return !isFinal(notified) && notified.lastUpdatedAt < (this.#task?.lastUpdatedAt ?? '')
  }

  /** Polls once; `undefined` after a transient error. */
  async #poll(): Promise<DetailedTask | undefined> {
    const { client, taskId, request } = this.#awaited
    const { signal, timeoutMs } = request
    this.#polls++
    try {
      const task = await getTask(client, taskId, { signal, timeoutMs })
      this.#failures = 0
      return task
    } catch (error) {
      if (!isTransient(error)) throw error
      this.#failures++
      if (!this.#task) await this.#wait(this.#intervalMs())
      return undefined
    }
  }

  /**
   * Answers requests for input that were not answered before, while polling continues: another
   * client may answer first, and a task can finish while a request is pending.
   */
  #answerRequests({ inputRequests = {} }: DetailedTask, signal: AbortSignal): void {
    const unanswered = Object.entries(inputRequests).filter(([key]) => !this.#answered.has(key))
    if (unanswered.length === 0) return
    for (const [key] of unanswered) this.#answered.add(key)
    const newRequests = Object.fromEntries(unanswered)
    this.#sendAnswers(newRequests, signal).catch(async (error: unknown) => {
      if (error instanceof ProtocolError && !(await this.#needsInput(newRequests))) return
      this.inputError ??= { error }
      this.#endPause?.()
    })
  }

  /**
   * Whether the task still waits for the input, so that the server rejected the answer for another
   * reason than that some other client had answered first.
   */
  async #needsInput(answered: { [key: string]: InputRequest }): Promise<boolean> {
    const task = await this.#poll().catch(() => undefined)
    const inputRequests = task ? (task.inputRequests ?? {}) : answered
    return Object.keys(answered).some((key) => Object.hasOwn(inputRequests, key))
  }

  async #sendAnswers(
    inputRequests: { [key: string]: InputRequest },
    signal: AbortSignal,
  ): Promise<void> {
    const { client, taskId, request } = this.#awaited
    const inputResponses = await client.answerInputs?.('tools/call', inputRequests, signal, request)
    if (!inputResponses) {
      const message = `The task "${taskId}" requests input, which this client does not support`
      throw new SdkError('INVALID_MESSAGE', message)
    }
    const { timeoutMs } = request
    for (let failures = 1; ; failures++) {
      try {
        await client.request('tasks/update', { taskId, inputResponses }, { signal, timeoutMs })
        return
      } catch (error) {
        if (!isTransient(error)) throw error
        await sleep(pollDelayMs(NO_SUGGESTION, failures, this.#awaited.options), signal)
      }
    }
  }

  /** Waits until the next poll is due or a notification arrives. */
  async #pause(task: DetailedTask): Promise<void> {
    if (this.#notified || this.inputError) return
    const intervalMs = this.#intervalMs(task.pollIntervalMs)
    await this.#wait(this.#isSubscribed ? Math.max(intervalMs, SUBSCRIBED_POLL_MS) : intervalMs)
  }

  #intervalMs(requestedMs = this.#task?.pollIntervalMs): number {
    return pollDelayMs(requestedMs, this.#failures, this.#awaited.options)
  }

  /** @throws {SdkError} `TIMEOUT` if the time limit has passed, `ABORTED`. */
  async #wait(delayMs: number): Promise<void> {
    const { signal } = this.#awaited.request
    const remainingMs = this.#deadline() - performance.now()
    if (remainingMs <= 0) throw noResultError('TIMEOUT', this.#awaited.taskId)
    const controller = new AbortController()
    const stop = (): void => controller.abort()
    signal?.addEventListener('abort', stop)
    this.#endPause = stop
    await sleep(Math.min(delayMs, remainingMs, MAX_TIMER_MS), controller.signal).catch(() => {})
    this.#endPause = undefined
    signal?.removeEventListener('abort', stop)
    if (signal?.aborted) throw abortReason(signal)
  }

  /** The caller's deadline, or the time when the server may delete the task, if that is earlier. */
  #deadline(): number {
    const { maxTimeoutMs = Infinity } = this.#awaited.request
    // Uses the local clock only, since the server's creation time comes from a clock that may
    // differ.
    return this.#startedAt + Math.min(maxTimeoutMs, pollTimeoutMs(this.#task?.ttlMs))
  }

  /**
   * Subscribes to the task's notifications if the server supports them. Otherwise polling
   * continues.
   */
  #subscribe(signal: AbortSignal): void {
    const { client, taskId } = this.#awaited
    if (this.#hasSubscribed || !client.listen) return
    this.#hasSubscribed = true
    const subscribing = client.listen({ taskIds: [taskId] }, { signal })
    const receive = async (): Promise<void> => {
      const subscription = await subscribing
      const { taskIds } = subscription.filter
      this.#isSubscribed = Array.isArray(taskIds) && taskIds.includes(taskId)
      if (!this.#isSubscribed) return subscription.close()
      for await (const { method, params } of subscription) {
        if (method !== 'notifications/tasks' || params?.taskId !== taskId) continue
        this.#notified = requireDetailedTask(params, taskId)
        this.#endPause?.()
      }
    }
    const onEnd = (): void => {
      this.#isSubscribed = false
      // The stream may have ended because the client was closed; the next poll finds out.
      this.#endPause?.()
    }
    receive().then(onEnd, onEnd)
  }
}

/**
 * The result of a task; `undefined` while the task is running.
 *
 * @throws {ProtocolError} The error that the task failed with.
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
