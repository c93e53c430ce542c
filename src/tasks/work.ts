/**
 * The work on tasks in this process: claimed, so that no other process does it as well, bounded by
 * the time of the task, and stopped at its end.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 */
import { untilAborted } from '../patterns/abort.ts'
import { Cancellation } from '../patterns/cancellation.ts'
import { INTERNAL_ERROR, McpError } from '../protocol/errors.ts'
import type { ServerDefinition } from '../server/definition.ts'
import { every, later } from './clock.ts'
import type { TaskRepository } from './task-repository.ts'
import { expiresAt, isFinal, type TaskRecord } from './record.ts'
import { runTask, type Platform, type RunHost } from './run.ts'
import { lease, record as recordWork, say, finish, type Transition } from './state.ts'
import type { TaskKeeper } from './store.ts'

/** How long to wait after each failure of a store to keep an outcome, in milliseconds. */
const RETRIES_MS = [100, 400, 1_600, 6_400]

/** What work on tasks needs to know. */
export interface WorkOptions {
  readonly store: TaskKeeper
  /**
   * How long the claim of a process to work on a task holds, in milliseconds, so that another can
   * go on with it after a crash; nothing where no other could.
   */
  readonly leaseMs?: number | undefined
  /** Has a task worked on; by default at once, in this process. */
  readonly begin?: ((taskId: string) => void | Promise<void>) | undefined
}

/** The tasks that this process works on. */
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

  /** Has a task worked on. */
  async begin(taskId: string, platform: Platform): Promise<void> {
    if (this.#options.begin) return this.#options.begin(taskId)
    const work = this.go(this.run(taskId, platform))
    platform.waitUntil?.(work)
  }

  /** Works on a task until it ends, asks or is cancelled. Does nothing where that is not wanted. */
  async run(taskId: string, platform: Platform): Promise<void> {
    if (this.#running.has(taskId)) return
    const cancellation = new Cancellation()
    this.#running.set(taskId, cancellation)
    const stop: (() => void)[] = []
    try {
      const task = await this.#claim(taskId)
      // It may have come to its end while it was read.
      if (!task || cancellation.cancelled) return
      stop.push(this.#renew(taskId), this.#bound(task))
      const run = runTask(this.#server, task, this.#host(taskId, cancellation), platform)
      const change = await untilAborted(run, cancellation.signal)
      // Before anybody can answer what the run asks, which begins another.
      this.#running.delete(taskId)
      if (change) await this.#conclude(taskId, change)
    } finally {
      for (const each of stop) each()
      if (this.#running.get(taskId) === cancellation) this.#running.delete(taskId)
    }
  }

  /** Stops the work on a task that is at its end. */
  stop(taskId: string): void {
    this.#running.get(taskId)?.cancel(new McpError('ABORTED', 'The task is at its end'))
  }

  /** Lets something go on by itself, and tells of its failure. */
  go(work: Promise<unknown>): Promise<unknown> {
    return work.catch((error: unknown) => this.#server.report(error))
  }

  /** What a run does to its task on the way. */
  #host(taskId: string, cancellation: Cancellation): RunHost {
    const change = async (transition: Transition): Promise<void> =>
      void (await this.#tasks.change(taskId, transition))
    return {
      cancellation,
      keep: (recording) => change(recordWork(recording)),
      say: (text) => change(say(text)),
      tell: (message) => {
        if (!cancellation.cancelled) this.#tasks.subscribers.publishMessage(taskId, message)
      },
    }
  }

  /** The task, if it is to be worked on, by this process. */
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

  /** Keeps the claim while the work goes on. */
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

  /** Sees to it that work ends with the time of its task. */
  #bound(task: TaskRecord): () => void {
    return later(expiresAt(task) - Date.now(), () => void this.go(this.#tasks.expire(task)))
  }

  /**
   * Keeps what a run led to. A store that fails may be back soon; one that never takes it, as it is
   * too long or so, fails the task. Where the host begins work, it begins again what failed.
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

/** Whether a task waits for work. */
export function isWaiting({ status, external }: TaskRecord): boolean {
  return status === 'working' && !external
}
