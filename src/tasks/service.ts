/**
 * What can be done with tasks, wherever they are kept and worked on: in this process, or in an
 * object of their own.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 */
import type { ErrorObject } from '../protocol/errors.ts'
import type { JsonRpcNotification } from '../protocol/jsonrpc.ts'
import type { ToolReturn } from '../server/features/tool-result.ts'
import type { InputOutcome, NewTask, TaskRecord } from './record.ts'
import type { Platform } from './run.ts'

/**
 * Tasks, as what answers requests sees them. Whoever is not the principal of a task learns nothing
 * of it, not even that it exists.
 */
export interface TaskService {
  /** An id for a new task that nobody can guess. */
  mintId(): string
  /**
   * Makes a task. When it resolves the task is kept, and its work will begin.
   *
   * @throws {McpError} `LIMIT_EXCEEDED` when there are too many.
   */
  create(task: NewTask, platform: Platform): Promise<TaskRecord>
  /** The task. */
  get(taskId: string, principal: string | null): Promise<TaskRecord | undefined>
  /** The task once it changed after `seen`, or when `waitMs` are over. */
  next(wait: TaskPollOptions): Promise<TaskRecord | undefined>
  /** Takes answers; the task after that. */
  answer(
    taskId: string,
    principal: string | null,
    given: { readonly [wireKey: string]: InputOutcome },
    platform: Platform,
  ): Promise<TaskRecord | undefined>
  /** Ends a task that is not at its end, and stops its work; the task after that. */
  cancel(taskId: string, principal: string | null): Promise<TaskRecord | undefined>
  /** Ends a task with an outcome that its author knows; whether there was something to end. */
  settle(taskId: string, outcome: ReportedOutcome): Promise<boolean>
  /** Says what is being done for a task whose outcome comes from elsewhere. */
  say(taskId: string, statusMessage: string): Promise<boolean>
  /**
   * Calls `listener` with a task, at first and after every change, until the function that it gives
   * is called; absent where {@link TaskService.next} is as cheap.
   */
  watch?(
    taskId: string,
    principal: string | null,
    listener: (task: TaskRecord) => void,
  ): Promise<() => void>
  /** Hears what the handler sends to who waits, where that can be heard; gives what ends it. */
  hear?(taskId: string, listener: (message: JsonRpcNotification) => void): () => void
  /** A page of the principal's tasks; absent where nobody knows them all. */
  list?(principal: string | null, limit: number, after?: string): Promise<TaskRecord[]>
}

/** An outcome as an author gives it: what the tool could have returned, or an error. */
export type ReportedOutcome = { readonly returned: ToolReturn } | { readonly error: ErrorObject }

/** What {@link TaskService.next} waits for. */
export interface TaskPollOptions {
  readonly taskId: string
  readonly principal: string | null
  /** The `lastUpdatedAt` that is known already. */
  readonly seen: number
  readonly waitMs: number
  /** Aborts when nobody waits any more. */
  readonly signal?: AbortSignal | undefined
}
