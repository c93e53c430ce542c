/**
 * The operations on tasks. Tasks are stored and run in this process, or in one Durable Object for each task.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 */
import type { ErrorObject, JsonRpcNotification } from '../protocol/types.ts'
import type { ToolReturn } from '../server/features/tool-result.ts'
import type { InputOutcome, NewTask, TaskRecord } from './record.ts'
import type { Platform } from './run.ts'

/**
 * The operations on tasks that request handlers use. For callers other than a task's principal, the task
 * does not exist.
 */
export interface TaskService {
  /** Generates an unguessable id for a new task. */
  createId(): string
  /**
   * Creates a task. When the promise resolves, the task is stored and will run.
   *
   * @throws {SdkError} `LIMIT_EXCEEDED` if there are too many tasks.
   */
  create(task: NewTask, platform: Platform): Promise<TaskRecord>
  /** Returns the task with this id, if it belongs to the principal. */
  get(taskId: string, principal: string | null): Promise<TaskRecord | undefined>
  /** Resolves with the task when it has changed after `changedAfter`, or when `waitMs` have passed. */
  next(wait: TaskWaitOptions): Promise<TaskRecord | undefined>
  /** Accepts the outcomes of input requests. Returns the changed task. */
  answer(
    taskId: string,
    principal: string | null,
    outcomes: { readonly [wireKey: string]: InputOutcome },
    platform: Platform,
  ): Promise<TaskRecord | undefined>
  /** Cancels a task that has not finished, and stops its run. Returns the changed task. */
  cancel(taskId: string, principal: string | null): Promise<TaskRecord | undefined>
  /** Ends a task with an outcome that the application reports. Returns whether the task was still open. */
  settle(taskId: string, outcome: ReportedOutcome): Promise<boolean>
  /** Sets the status message of a task. Returns whether the task is still open. */
  setStatusMessage(taskId: string, statusMessage: string): Promise<boolean>
  /**
   * Calls `listener` with the current task, and after every change, until the returned function is called.
   * Absent if repeated calls of {@link TaskService.next} cost no more than this method.
   */
  watch?(
    taskId: string,
    principal: string | null,
    listener: (task: TaskRecord) => void,
  ): Promise<() => void>
  /**
   * Subscribes to the messages that the handler of a task sends. Returns a function that unsubscribes.
   * Absent if the service does not support such messages.
   */
  onMessage?(taskId: string, listener: (message: JsonRpcNotification) => void): () => void
  /** A page of the principal's tasks. Absent if the service cannot list them. */
  list?(principal: string | null, limit: number, after?: string): Promise<TaskRecord[]>
}

/** An outcome that the application reports: a value that the tool could have returned, or an error. */
export type ReportedOutcome = { readonly returned: ToolReturn } | { readonly error: ErrorObject }

/** For which change {@link TaskService.next} waits, and for how long. */
export interface TaskWaitOptions {
  readonly taskId: string
  readonly principal: string | null
  /** The `lastUpdatedAt` of the last known state. */
  readonly changedAfter: number
  /** How long to wait for a change, in milliseconds. */
  readonly waitMs: number
  /** Aborts when the caller stops waiting. */
  readonly signal?: AbortSignal | undefined
}
