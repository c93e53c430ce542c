/**
 * Runs tasks in this process: under a lease, so that no other process runs them too, within the
 * lifetime of the task, and stopped once the task finishes.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 */
import { untilAborted } from '../patterns/abort.ts'
import { Cancellation } from '../patterns/cancellation.ts'
import { SdkError } from '../protocol/errors.ts'
import { INTERNAL_ERROR } from '../protocol/error-codes.ts'
import type { ServerDefinition } from '../server/definition.ts'
import { every, later } from './clock.ts'
import type { TaskRepository } from './task-repository.ts'
import { expiresAt, isFinal, type TaskRecord } from './record.ts'
import { runTask, type Platform, type RunHost } from './run.ts'
import { lease, record as recordWork, setStatusMessage, finish, type Transition } from './state.ts'
import type { TaskRecordStore } from './store.ts'

/** Delays between attempts to store an outcome when the store fails, in milliseconds. */
const RETRIES_MS = [100, 400, 1_600, 6_400]

/** Options for running tasks. */
export interface WorkOptions {
  readonly store: TaskRecordStore
  /**
   * How long the lease of a process on a task lasts, in milliseconds, after which another process
   * can resume the task following a crash; absent if no other process could.
   */
  readonly leaseMs?: number | undefined
  /** Starts the run of a task; by default immediately, in this process. */
  readonly begin?: ((taskId: string) => void | Promise<void>) | undefined
}

/** The tasks that this process runs. */
export class TaskWork {
  readonly #server: ServerDefinition
  readonly #tasks: TaskRepository
  readonly #options: WorkOptions
  readonly #running = new Map<string, Cancellation>()

  constructor(server: ServerDefinition, tasks: TaskRepository, options: WorkOptions) {
    this.#server = server
    this.#tasks = tasks
    this.#options = options
  }

  /** Starts the run of a task. */
  async begin(taskId: string, platform: Platform): Promise<void> {
    if (this.#options.begin) return this.#options.begin(taskId)
    const work = this.go(this.run(taskId, platform))
    platform.waitUntil?.(work)
  }

  /**
   * Runs a task until it finishes, requests input or is cancelled. Does nothing if the task is not
   * waiting to run.
   */
  async run(taskId: string, platform: Platform): Promise<void> {
    if (this.#running.has(taskId)) return
    const cancellation = new Cancellation()
    this.#running.set(taskId, cancellation)
    const stop: (() => void)[] = []
    try {
      const task = await this.#claim(taskId)
      // The task may have finished while it was read.
      if (!task || cancellation.cancelled) return
      stop.push(this.#renew(taskId), this.#stopOnExpiry(task))
      const run = runTask(this.#server, task, this.#host(taskId, cancellation), platform)
      const change = await untilAborted(run, cancellation.signal)
      // Before any response can arrive to what the run requested, since a response starts another
      // run.
      this.#running.delete(taskId)
      if (change) await this.#conclude(taskId, change)
    } finally {
      for (const each of stop) each()
      if (this.#running.get(taskId) === cancellation) this.#running.delete(taskId)
    }
  }

  /** Stops the run of a task that has finished. */
  stop(taskId: string): void {
    this.#running.get(taskId)?.cancel(new SdkError('ABORTED', 'The task has finished'))
  }

  /** Lets work continue in the background and reports its failure. */
  go(work: Promise<unknown>): Promise<unknown> {
    return work.catch((error: unknown) => this.#server.report(error))
  }

  /** What a run changes about its task on the way. */
  #host(taskId: string, cancellation: Cancellation): RunHost {
    const change = async (transition: Transition): Promise<void> =>
      void (await this.#tasks.change(taskId, transition))
    return {
      cancellation,
      keep: (recording) => change(recordWork(recording)),
      setStatusMessage: (text) => change(setStatusMessage(text)),
      notify: (message) => {
        if (!cancellation.cancelled) this.#tasks.subscribers.publishMessage(taskId, message)
      },
    }
  }

  /**
   * Takes the lease on a task; `undefined` if the task is not to be run, or not by this process.
   */
  async #claim(taskId: string): Promise<TaskRecord | undefined> {
    const { leaseMs, store } = this.#options
    if (leaseMs === undefined) {
      const known = await store.load(taskId)
      return known && isWaiting(known) ? known : undefined
    }
    let claimed = false
    const known = await this.#tasks.change(taskId, (before, now) => {
      claimed = isWaiting(before) && (before.leasedUntil ?? 0) <= now
      return claimed ? lease(now + leaseMs)(before, now) : undefined
    })
    return claimed ? known : undefined
  }

  /** Renews the lease during the run. */
  #renew(taskId: string): () => void {
    const { leaseMs } = this.#options
    if (leaseMs === undefined) return () => {}
    const renew = async (): Promise<void> => {
      const known = await this.#tasks.change(taskId, lease(Date.now() + leaseMs))
      // Another process may have ended the task.
      if (!known || isFinal(known)) this.stop(taskId)
    }
    return every(leaseMs / 3, () => void this.go(renew()))
  }

  /** Stops the run when the task expires. */
  #stopOnExpiry(task: TaskRecord): () => void {
    return later(expiresAt(task) - Date.now(), () => void this.go(this.#tasks.expire(task)))
  }

  /**
   * Stores the transition that a run led to. A failing store is retried, as it may recover; an
   * outcome that it never accepts, for example because it is too large, fails the task. If the host
   * starts runs, it restarts the one that failed.
   */
  async #conclude(taskId: string, change: Transition): Promise<void> {
    if (this.#options.begin) {
      await this.#tasks.change(taskId, change)
      return
    }
    for (const delayMs of RETRIES_MS) {
      try {
        await this.#tasks.change(taskId, change)
        return
      } catch (error) {
        this.#server.report(error)
        await new Promise<void>((resolve) => later(delayMs, resolve))
      }
    }
    const error = { code: INTERNAL_ERROR, message: 'Internal error' }
    await this.#tasks.change(
      taskId,
      finish({ error }, () => true),
    )
  }
}

/** Whether a task is waiting to run. */
export function isWaiting({ status, external }: TaskRecord): boolean {
  return status === 'working' && !external
}
