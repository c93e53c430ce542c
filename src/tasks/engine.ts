/**
 * The task service that stores tasks in a store and runs them in this process.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 */
import { semaphore } from '../patterns/semaphore.ts'
import { encodeBase64Url } from '../protocol/base64url.ts'
import { SdkError } from '../protocol/errors.ts'
import type { JsonRpcNotification } from '../protocol/types.ts'
import type { ServerDefinition } from '../server/definition.ts'
import { toResult, type ToolReturn } from '../server/features/tool-result.ts'
import { Alarm, runEvery } from './clock.ts'
import { TaskRepository } from './task-repository.ts'
import {
  expiresAt,
  isFinal,
  isReadyToRun,
  newRecord,
  cloneJson,
  type InputOutcome,
  type NewTask,
  type TaskRecord,
} from './record.ts'
import { createFailureTest, type Platform } from './run.ts'
import type { ReportedOutcome, TaskService, TaskWaitOptions } from './service.ts'
import { answer, cancel, setStatusMessage, finish, type TaskOutcome } from './state.ts'
import type { TaskStore } from './store.ts'
import { TaskWork, type WorkOptions } from './work.ts'

/** How tasks are stored and run. */
export interface EngineOptions extends WorkOptions {
  /** The limits for tasks. If absent, the platform limits tasks, and deletes expired tasks. */
  readonly limits?: TaskLimits | undefined
  /** Called with the task after each change that clients can see. */
  readonly onChange?: ((task: TaskRecord) => void) | undefined
}

/** The limits for the tasks in a store. Several processes may share the store. */
export interface TaskLimits {
  readonly store: TaskStore
  /** The maximum number of tasks stored at once. */
  readonly maxTasks: number
  /** The maximum number of tasks stored at once for one principal. */
  readonly maxTasksPerPrincipal: number
}

/** The number of random bytes in the id of a task. These 192 bits cannot be guessed. */
const ID_BYTES = 24

/** The tasks of one server in one process. */
export class TaskEngine implements TaskService {
  readonly #server: ServerDefinition
  readonly #options: EngineOptions
  readonly #tasks: TaskRepository
  readonly #work: TaskWork
  /** Deletes tasks when they expire. */
  readonly #sweeper = new Alarm(() => void this.#work.runInBackground(this.sweep()))
  /** Allows one addition at a time, because each addition first counts the existing tasks. */
  readonly #additions = semaphore(1)
  /** Whether this process regularly looks for tasks of crashed processes. */
  #isRecovering = false
  /** When the search for tasks of crashed processes last failed, in milliseconds since 1970. */
  #failedAt = -Infinity

  constructor(server: ServerDefinition, options: EngineOptions) {
    this.#server = server
    this.#options = options
    this.#tasks = new TaskRepository(options.store, options.onChange)
    this.#work = new TaskWork(server, this.#tasks, options)
  }

  createId(): string {
    return encodeBase64Url(crypto.getRandomValues(new Uint8Array(ID_BYTES)))
  }

  async create(task: NewTask, platform: Platform): Promise<TaskRecord> {
    const { limits } = this.#options
    const record = await (limits ? this.#additions(() => this.#add(task)) : this.#add(task))
    if (limits) this.#sweeper.set(expiresAt(record))
    await this.#work.begin(record.taskId, platform, record)
    return record
  }

  async #add(task: NewTask): Promise<TaskRecord> {
    const { store, limits } = this.#options
    if (limits && (await isFull(limits, task.call.principal))) {
      throw new SdkError('LIMIT_EXCEEDED', 'Too many tasks are open')
    }
    const record = this.#work.withLease(newRecord(task, Date.now()))
    if (await store.save(record)) return record
    throw new TypeError(`The task "${task.taskId}" already exists`)
  }

  get(taskId: string, principal: string | null): Promise<TaskRecord | undefined> {
    return this.#tasks.get(taskId, principal)
  }

  next(wait: TaskWaitOptions): Promise<TaskRecord | undefined> {
    return this.#tasks.next(wait)
  }

  onMessage(taskId: string, listener: (message: JsonRpcNotification) => void): () => void {
    return this.#tasks.subscribers.onMessage(taskId, listener)
  }

  async answer(
    taskId: string,
    principal: string | null,
    outcomes: { readonly [wireKey: string]: InputOutcome },
    platform: Platform,
  ): Promise<TaskRecord | undefined> {
    if (!(await this.get(taskId, principal))) return undefined
    let mustResume = false
    const task = await this.#tasks.change(taskId, (before, now) => {
      const after = answer(outcomes)(before, now)
      mustResume = after?.status === 'working'
      return after
    })
    if (mustResume) await this.#work.begin(taskId, platform)
    return task
  }

  async cancel(taskId: string, principal: string | null): Promise<TaskRecord | undefined> {
    if (!(await this.get(taskId, principal))) return undefined
    return this.#tasks.change(taskId, cancel())
  }

  async settle(taskId: string, reported: ReportedOutcome): Promise<boolean> {
    const outcome =
      'error' in reported ? reported : await this.#toOutcome(taskId, reported.returned)
    if (!outcome) return false
    let isSettled = false
    await this.#tasks.change(taskId, (before, now) => {
      const after = finish(outcome, createFailureTest(before.call))(before, now)
      isSettled = after !== undefined
      return after
    })
    return isSettled
  }

  /**
   * Converts the value that the application reported for a task to a valid result of the tool. Returns
   * `undefined` if the task does not exist.
   */
  async #toOutcome(taskId: string, returned: ToolReturn): Promise<TaskOutcome | undefined> {
    const task = await this.#options.store.load(taskId)
    if (!task) return undefined
    const { params, principal, auth, client } = task.call
    const requester = { principal: principal ?? undefined, auth, client }
    const entry = this.#server.tools.require(String(params.name), requester)
    const result = await toResult(returned, entry)
    if ((result.resultType ?? 'complete') === 'complete') return { result: cloneJson(result) }
    throw new TypeError(`A task cannot end with a result of type "${result.resultType}"`)
  }

  async setStatusMessage(taskId: string, statusMessage: string): Promise<boolean> {
    const task = await this.#tasks.change(taskId, setStatusMessage(statusMessage))
    return task !== undefined && !isFinal(task)
  }

  async list(principal: string | null, limit: number, after?: string): Promise<TaskRecord[]> {
    // Expired tasks are removed first, so that a short page is always the last one
    await this.sweep()
    return (await this.#options.limits?.store.list(principal, limit, after)) ?? []
  }

  /**
   * Resumes every task that no process is running, for example after a restart. If other processes
   * share the store, this process then regularly resumes the tasks of crashed processes.
   */
  async resume(platform: Platform = {}): Promise<void> {
    const { limits, leaseMs } = this.#options
    if (!limits) return
    if (leaseMs !== undefined && !this.#isRecovering) {
      this.#isRecovering = true
      runEvery(leaseMs / 3, () => void this.#work.runInBackground(this.resume(platform)))
    }
    try {
      for (const taskId of await this.#findUnleased(limits.store, leaseMs)) {
        await this.#work.begin(taskId, platform)
      }
      const next = await limits.store.nextExpiry()
      if (next !== undefined) this.#sweeper.set(next)
    } catch (error) {
      this.#failedAt = Date.now()
      throw error
    }
  }

  /**
   * Finds the tasks that are ready to run and have no valid lease. While the store fails, no process can renew
   * leases. For a time of `leaseMs` after a failure, this method therefore finds only tasks without any lease.
   * Each process can then renew its leases before another process takes over its tasks.
   */
  async #findUnleased(store: TaskStore, leaseMs = 0): Promise<string[]> {
    const now = Date.now()
    const expiredBefore = now - this.#failedAt < leaseMs ? 0 : now
    if (store.unleased) return store.unleased(expiredBefore)
    return (await store.unfinished())
      .filter((task) => isReadyToRun(task) && (task.leasedUntil ?? 0) <= expiredBefore)
      .map(({ taskId }) => taskId)
  }

  /**
   * Runs a task until it finishes, requests input or is cancelled. Does nothing if the task is not ready to run.
   */
  run(taskId: string, platform: Platform = {}): Promise<void> {
    return this.#work.run(taskId, platform)
  }

  /** Deletes the expired tasks, and schedules the next deletion. */
  async sweep(): Promise<void> {
    const store = this.#options.limits?.store
    for (const task of (await store?.expired(Date.now())) ?? []) await this.#tasks.expire(task)
    const next = await store?.nextExpiry()
    if (next !== undefined) this.#sweeper.set(next)
  }

  /** Deletes a task if it has expired. Otherwise returns the task. */
  async expire(taskId: string): Promise<TaskRecord | undefined> {
    const task = await this.#options.store.load(taskId)
    if (!task || expiresAt(task) > Date.now()) return task
    await this.#tasks.expire(task)
    return undefined
  }
}

/** Whether another task of the principal would exceed a limit. */
async function isFull(
  { store, maxTasks, maxTasksPerPrincipal }: TaskLimits,
  principal: string | null,
): Promise<boolean> {
  // Without a limit, tasks are not counted, because counting takes time in proportion to their number
  if (maxTasks < Infinity && (await store.count()) >= maxTasks) return true
  return principal !== null && (await store.count(principal)) >= maxTasksPerPrincipal
}
