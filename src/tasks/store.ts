/**
 * Where tasks are kept. A store knows nothing of what tasks are: it keeps records by id, and refuses
 * a change to a record that somebody else changed first.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 */
import type { TaskRecord } from './record.ts'
import { expiresAt } from './record.ts'

type Awaitable<T> = T | Promise<T>

/** Keeps single tasks. What it resolved is kept, whatever happens to the process. */
export interface TaskKeeper {
  /** The task of that id. */
  load(taskId: string): Awaitable<TaskRecord | undefined>
  /**
   * Keeps a task. A new one has version 1; any other takes the place of the version before its
   * own, and of no other.
   *
   * @returns whether it was kept.
   */
  save(record: TaskRecord): Awaitable<boolean>
  /** Forgets a task. */
  remove(taskId: string): Awaitable<void>
}

/** Keeps tasks, and knows them all. */
export interface TaskStore extends TaskKeeper {
  /** How many tasks are kept, those of one principal where it is given. */
  count(principal?: string | null): Awaitable<number>
  /**
   * The tasks of a principal, those that were made first first.
   *
   * @param after The id of the last one that is known already.
   */
  list(principal: string | null, limit: number, after?: string): Awaitable<TaskRecord[]>
  /** The tasks whose time is over. */
  expired(now: number): Awaitable<TaskRecord[]>
  /** The tasks that are not at their end. */
  unfinished(): Awaitable<TaskRecord[]>
  /** When the next task may be forgotten, in milliseconds since 1970. */
  nextExpiry(): Awaitable<number | undefined>
}

/** Makes a store in memory; its tasks end with the process. */
export function createMemoryTaskStore(): TaskStore {
  return new MemoryTaskStore()
}

class MemoryTaskStore implements TaskStore {
  readonly #records = new Map<string, TaskRecord>()
  readonly #counts = new Map<string | null, number>()

  load(taskId: string): TaskRecord | undefined {
    return this.#records.get(taskId)
  }

  save(record: TaskRecord): boolean {
    const { taskId, version, call } = record
    const known = this.#records.get(taskId)
    if ((known?.version ?? 0) !== version - 1) return false
    this.#records.set(taskId, record)
    if (!known) this.#count(call.principal, 1)
    return true
  }

  remove(taskId: string): void {
    const known = this.#records.get(taskId)
    if (!known) return
    this.#records.delete(taskId)
    this.#count(known.call.principal, -1)
  }

  count(principal?: string | null): number {
    return principal === undefined ? this.#records.size : (this.#counts.get(principal) ?? 0)
  }

  list(principal: string | null, limit: number, after?: string): TaskRecord[] {
    const own = [...this.#records.values()].filter(({ call }) => call.principal === principal)
    // An id that was forgotten meanwhile leads to the start, not to an end that is none.
    const from = own.findIndex(({ taskId }) => taskId === after) + 1
    return own.slice(from, from + limit)
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
      const at = expiresAt(record)
      if (next === undefined || at < next) next = at
    }
    return next
  }

  #count(principal: string | null, by: 1 | -1): void {
    const count = (this.#counts.get(principal) ?? 0) + by
    if (count > 0) this.#counts.set(principal, count)
    else this.#counts.delete(principal)
  }
}
