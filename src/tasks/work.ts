/**
 * Runs tasks in this process. Each run holds a lease, so that no other process runs the same task. A run
 * stops when its task is cancelled or expires.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 */
import { untilAborted } from '../patterns/abort.ts'
import { Cancellation } from '../patterns/cancellation.ts'
import { pause } from '../patterns/timers.ts'
import { SdkError } from '../protocol/errors.ts'
import { INTERNAL_ERROR } from '../protocol/error-codes.ts'
import type { ServerDefinition } from '../server/definition.ts'
import { runEvery, runLater } from './clock.ts'
import type { TaskRepository } from './task-repository.ts'
import { expiresAt, isFinal, isReadyToRun, type TaskRecord } from './record.ts'
import { runTask, type Platform, type RunHost } from './run.ts'
import { lease, setStatusMessage, finish, saveRecording, type Transition } from './state.ts'
import type { TaskRecordStore } from './store.ts'
import { ignoreUnavailable, whenAvailable } from './unavailable.ts'

/** The delays after failed attempts to store an outcome, in milliseconds. */
const RETRY_DELAYS_MS = [100, 400, 1_600, 6_400]

/** Options for running tasks. */
export interface WorkOptions {
  readonly store: TaskRecordStore
  /**
   * How long the lease of a process on a task lasts, in milliseconds. If the process crashes, another
   * process can resume the task after that time. Absent if no other process has access to the task.
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
  readonly #running = new Map<string, Run>()
  /** Identifies this process in the leases of tasks. */
  readonly #processId = crypto.randomUUID()

  constructor(server: ServerDefinition, tasks: TaskRepository, options: WorkOptions) {
    this.#server = server
    this.#tasks = tasks
    this.#options = options
  }

  /**
   * Starts the run of a task.
   *
   * @param leased The record of the task, if it has the lease that {@link withLease} added, and has not changed
   *   since.
   */
  async begin(taskId: string, platform: Platform, leased?: TaskRecord): Promise<void> {
    if (this.#options.begin) return this.#options.begin(taskId)
    const work = this.runInBackground(this.run(taskId, platform, leased))
    platform.waitUntil?.(work)
  }

  /** Adds the lease of this process to a new task. */
  withLease(task: TaskRecord): TaskRecord {
    const { leaseMs } = this.#options
    if (leaseMs === undefined) return task
    return { ...task, leasedBy: this.#processId, leasedUntil: task.createdAt + leaseMs }
  }

  /**
   * Runs a task until it finishes, requests input or is cancelled. Does nothing if the task is not ready to run.
   */
  async run(taskId: string, platform: Platform, leased?: TaskRecord): Promise<void> {
    if (this.#running.has(taskId)) return
    const run: Run = { taskId, cancellation: new Cancellation(), task: undefined }
    this.#running.set(taskId, run)
    const cleanups = [this.#watch(run)]
    try {
      const task = leased?.leasedBy === this.#processId ? leased : await this.#claim(taskId)
      run.task = task
      // The task may have finished while it was read
      if (!task || run.cancellation.cancelled) return
      cleanups.push(this.#renew(run), this.#stopOnExpiry(task))
      const running = runTask(this.#server, task, this.#createHost(run), platform)
      const transition = await untilAborted(running, run.cancellation.signal)
      // If the outcome is a list of input requests, the client may respond as soon as they are saved. The
      // response must be able to start the next run, so this run no longer counts as running
      this.#running.delete(taskId)
      if (transition) await this.#saveOutcome(run, transition)
    } finally {
      for (const cleanUp of cleanups) cleanUp()
      if (this.#running.get(taskId) === run) this.#running.delete(taskId)
    }
  }

  /**
   * Lets work continue in the background, and reports its failure. A failure is not reported if the store is
   * unavailable, because the store itself reports this.
   */
  runInBackground(work: Promise<unknown>): Promise<unknown> {
    return work.catch(ignoreUnavailable).catch((error: unknown) => this.#server.report(error))
  }

  /**
   * Creates the operations that a run needs, such as storing the changes that the run makes to its task. The
   * recording contains the handler's steps and answers so far, so that a later run can replay them.
   */
  #createHost(run: Run): RunHost {
    const { taskId, cancellation } = run
    return {
      cancellation,
      save: (recording) => whenAvailable(() => this.#change(run, saveRecording(recording))),
      // If the store is not available, the status message is lost. It is not worth waiting for the store
      setStatusMessage: (text) =>
        this.#change(run, setStatusMessage(text)).catch(ignoreUnavailable),
      notify: (message) => {
        if (!cancellation.cancelled) this.#tasks.publishMessage(taskId, message)
      },
    }
  }

  /**
   * Takes the lease on a task, and returns the task. Returns `undefined` if the task is not ready to run, or if
   * another process has the lease.
   */
  async #claim(taskId: string): Promise<TaskRecord | undefined> {
    const { leaseMs, store } = this.#options
    if (leaseMs === undefined) {
      const task = await store.load(taskId)
      return task && isReadyToRun(task) ? task : undefined
    }
    let isClaimed = false
    const task = await this.#tasks.change(taskId, (before, now) => {
      isClaimed = isReadyToRun(before) && (before.leasedUntil ?? 0) <= now
      return isClaimed ? lease(this.#processId, now + leaseMs)(before, now) : undefined
    })
    return isClaimed ? task : undefined
  }

  /** Changes the task of a run. If the task has ended, or another process has claimed it, stops the run. */
  async #change(run: Run, transition: Transition): Promise<void> {
    const { leaseMs } = this.#options
    // Remains true if the task no longer exists, because `guarded` is not called then
    let mustStop = true
    const guarded: Transition = (before, now) => {
      mustStop = isFinal(before) || (leaseMs !== undefined && before.leasedBy !== this.#processId)
      return mustStop ? undefined : transition(before, now)
    }
    run.task = await this.#tasks.change(run.taskId, guarded, run.task)
    if (mustStop) stopRun(run)
  }

  /** Renews the lease during the run. */
  #renew(run: Run): () => void {
    const { leaseMs } = this.#options
    if (leaseMs === undefined) return () => {}
    return runEvery(leaseMs / 3, () => {
      void this.runInBackground(this.#change(run, lease(this.#processId, Date.now() + leaseMs)))
    })
  }

  /** Stops the run when its task ends, or when another process takes over the task. */
  #watch(run: Run): () => void {
    return this.#tasks.subscribers.onChange(run.taskId, (task) => {
      const leasedBy = task?.leasedBy
      const isTakenOver = leasedBy !== undefined && leasedBy !== this.#processId
      if (!task || isFinal(task) || isTakenOver) stopRun(run)
    })
  }

  /** Stops the run when the task expires. */
  #stopOnExpiry(task: TaskRecord): () => void {
    return runLater(
      expiresAt(task) - Date.now(),
      () => void this.runInBackground(this.#tasks.expire(task)),
    )
  }

  /**
   * Stores the transition that results from a run. If the store fails, tries again. If the store never accepts the
   * outcome, for example because the outcome is too large, the task fails. With the option `begin`, there is only
   * one attempt, because the platform repeats a run that fails.
   */
  async #saveOutcome(run: Run, transition: Transition): Promise<void> {
    if (this.#options.begin) return this.#change(run, transition)
    for (const delayMs of RETRY_DELAYS_MS) {
      try {
        return await whenAvailable(() => this.#change(run, transition))
      } catch (error) {
        this.#server.report(error)
        await pause(delayMs)
      }
    }
    const error = { code: INTERNAL_ERROR, message: 'Internal error' }
    const fail = finish({ error })
    await whenAvailable(() => this.#change(run, fail))
  }
}

/** A run of a task in this process. */
interface Run {
  readonly taskId: string
  readonly cancellation: Cancellation
  /** The task as this run last saw it. */
  task: TaskRecord | undefined
}

function stopRun({ cancellation }: Run): void {
  cancellation.cancel(new SdkError('ABORTED', 'The task has finished'))
}
