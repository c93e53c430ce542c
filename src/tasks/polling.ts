/**
 * The options with which a client polls tasks, and how it reports the changes of a task.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 */
import type { ExtensionClient } from '../client/extension.ts'
import type { RequestOptions } from '../client/request-options.ts'
import { callHook } from '../patterns/hooks.ts'
import type { DetailedTask } from '../protocol/types.ts'

/** How tasks are polled. */
export interface TaskPollingOptions {
  /**
   * The poll interval if the server suggests none, in milliseconds.
   *
   * @default 1000
   */
  readonly pollIntervalMs?: number
  /**
   * The longest poll interval, even if the server suggests a longer one, in milliseconds.
   *
   * @default 60000
   */
  readonly maxPollIntervalMs?: number
  /**
   * Whether to subscribe to the task's notifications if the server supports that. The task is then polled less often.
   *
   * @default true
   */
  readonly notifications?: boolean
  /**
   * Called with the task when it was created, and after every change. Store the task's id here, so that another
   * process can continue to poll the task.
   */
  readonly onTask?: (task: DetailedTask) => void
}

/** A task to wait for, and the options for waiting. */
export interface AwaitedTask {
  readonly client: ExtensionClient
  readonly taskId: string
  readonly pollingOptions: TaskPollingOptions
  /** The options of the original call. */
  readonly callOptions: RequestOptions
  /** The last known state of the task. */
  readonly task?: DetailedTask | undefined
}

/** Creates a function that reports each change of a task to `onTask`, and as progress of the original call. */
export function createTaskReporter(
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
