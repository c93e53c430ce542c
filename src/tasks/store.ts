/**
 * Storage of tasks. A store keeps records by id, and rejects a change if the record was changed concurrently.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 */
import type { Awaitable } from '../patterns/awaitable.ts'
import type { JsonRpcNotification } from '../protocol/types.ts'
import type { TaskRecord } from './record.ts'
import { expiresAt } from './record.ts'

/** Stores single tasks. When a write has resolved, it must survive a crash of the process. */
export interface TaskRecordStore {
  /** Loads the task with this id. */
  load(taskId: string): Awaitable<TaskRecord | undefined>
  /**
   * Stores a task. A new record has version 1. A record with a higher version is stored only if the version of
   * the stored record is lower by one.
   *
   * @returns Whether the record was stored.
   */
  save(record: TaskRecord): Awaitable<boolean>
  /** Deletes a task. */
  remove(taskId: string): Awaitable<void>
  /**
   * Notifies the subscriber of the changes and messages of tasks in other processes, until the returned
   * function is called. Only for stores that several processes share.
   */
  subscribe?(subscriber: TaskStoreSubscriber): () => void
  /**
   * Passes a message from the handler of a task to the other processes, whose clients may wait for
   * the task. A message that cannot be passed on immediately is lost.
   */
  publishMessage?(taskId: string, message: JsonRpcNotification): void
}

/** Receives the changes and messages of tasks in other processes that share the store. */
export interface TaskStoreSubscriber {
  /**
   * Called with the id of a task that another process has changed. Called without an id after notifications may have
   * been missed: any task may then have changed.
   */
  onChange(taskId: string | undefined): void
  /** Called with a message from the handler of a task. */
  onMessage(taskId: string, message: JsonRpcNotification): void
}

/**
 * Stores tasks and can query all of them.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 */
export interface TaskStore extends TaskRecordStore {
  /** Counts all stored tasks, or the tasks of one principal. */
  count(principal?: string | null): Awaitable<number>
  /**
   * The tasks of a principal, oldest first.
   *
   * @param after The id of the last task of the previous page.
   */
  list(principal: string | null, limit: number, after?: string): Awaitable<TaskRecord[]>
  /** The expired tasks. */
  expired(now: number): Awaitable<TaskRecord[]>
  /** The tasks that are not in a final state. */
  unfinished(): Awaitable<TaskRecord[]>
  /** When the next task expires, in milliseconds since 1970. */
  nextExpiry(): Awaitable<number | undefined>
  /**
   * Returns the ids of tasks that are ready to run, and have no lease or an expired lease. If there are many
   * such tasks, the store may return only some of them. Without this method, `unfinished` is called.
   *
   * @param expiredBefore A lease has expired if it ended at this time or earlier, in milliseconds
   *   since 1970.
   */
  unleased?(expiredBefore: number): Awaitable<string[]>
}

/** Creates a store in memory. Its tasks are lost when the process exits. */
export function createMemoryTaskStore(): TaskStore {
  return new MemoryTaskStore()
}

class MemoryTaskStore implements TaskStore {
  readonly #records = new Map<string, TaskRecord>()
  /** The number of tasks of each principal. */
  readonly #counts = new Map<string | null, number>()

  load(taskId: string): TaskRecord | undefined {
    return this.#records.get(taskId)
  }

  save(record: TaskRecord): boolean {
    const { taskId, version, call } = record
    const current = this.#records.get(taskId)
    if ((current?.version ?? 0) !== version - 1) return false
    this.#records.set(taskId, record)
    if (!current) this.#changeCount(call.principal, 1)
    return true
  }

  remove(taskId: string): void {
    const record = this.#records.get(taskId)
    if (!record) return
    this.#records.delete(taskId)
    this.#changeCount(record.call.principal, -1)
  }

  count(principal?: string | null): number {
    return principal === undefined ? this.#records.size : (this.#counts.get(principal) ?? 0)
  }

  list(principal: string | null, limit: number, after?: string): TaskRecord[] {
    const ofPrincipal = [...this.#records.values()].filter(
      ({ call }) => call.principal === principal,
    )
    // If the task with the id `after` was deleted in the meantime, the list starts from the beginning
    const start = ofPrincipal.findIndex(({ taskId }) => taskId === after) + 1
    return ofPrincipal.slice(start, start + limit)
  }

  expired(now: number): TaskRecord[] {
    return [...this.#records.values()].filter((record) => expiresAt(record) <= now)
  }

  unfinished(): TaskRecord[] {
    return [...this.#records.values()].filter(
      ({ status }) => status === 'working' || status === 'input_required',
    )
  }

  nextExpiry(): number | undefined {
    let next: number | undefined
    for (const record of this.#records.values()) {
      const expiry = expiresAt(record)
      if (next === undefined || expiry < next) next = expiry
    }
    return next
  }

  #changeCount(principal: string | null, difference: 1 | -1): void {
    const count = (this.#counts.get(principal) ?? 0) + difference
    if (count > 0) this.#counts.set(principal, count)
    else this.#counts.delete(principal)
  }
}
