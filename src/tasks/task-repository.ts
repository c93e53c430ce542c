/**
 * Reads and changes the tasks of a store, and publishes the changes. Each change is atomic, even if other processes
 * change the task at the same time.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 */
import { withTimeout } from '../patterns/timeout.ts'
import { SdkError } from '../protocol/errors.ts'
import type { JsonRpcNotification } from '../protocol/types.ts'
import { TaskSubscribers } from './subscribers.ts'
import { expiresAt, TASK_EXPIRED, type TaskRecord } from './record.ts'
import type { TaskWaitOptions } from './service.ts'
import { finish, type Transition } from './state.ts'
import type { TaskRecordStore } from './store.ts'

/** The maximum number of attempts to store a change while other processes change the same task. */
const MAX_ATTEMPTS = 100

/** The minimum interval at which tasks are read again if the store announces changes, in milliseconds. */
const NOTIFIED_POLL_MS = 15_000

/** The tasks of one store, as one process sees them. */
export class TaskRepository {
  /** The subscribers in this process. */
  readonly subscribers: TaskSubscribers = new TaskSubscribers()
  readonly #store: TaskRecordStore
  readonly #onChange: ((task: TaskRecord) => void) | undefined

  /** @param onChange Called with the task after each change that clients can see. */
  constructor(store: TaskRecordStore, onChange?: (task: TaskRecord) => void) {
    this.#store = store
    this.#onChange = onChange
    store.subscribe?.({
      onChange: (taskId) => {
        const ids = taskId === undefined ? this.subscribers.watchedTaskIds() : [taskId]
        for (const id of ids) if (this.subscribers.hasChangeListener(id)) void this.#refresh(id)
      },
      onMessage: (taskId, message) => this.subscribers.publishMessage(taskId, message),
    })
  }

  /** Sends a message from the handler of a task to all subscribers, in any process. */
  publishMessage(taskId: string, message: JsonRpcNotification): void {
    this.subscribers.publishMessage(taskId, message)
    this.#store.publishMessage?.(taskId, message)
  }

  /** Gets the task of a principal, unless it has expired. */
  async get(taskId: string, principal: string | null): Promise<TaskRecord | undefined> {
    const task = await this.#store.load(taskId)
    if (!task || task.call.principal !== principal) return undefined
    if (expiresAt(task) > Date.now()) return task
    await this.expire(task)
    return undefined
  }

  /** Resolves with the task when it has changed after `changedAfter`, or when `waitMs` have passed. */
  async next(wait: TaskWaitOptions): Promise<TaskRecord | undefined> {
    const { taskId, principal, changedAfter, signal } = wait
    const waitMs = this.#store.subscribe ? Math.max(wait.waitMs, NOTIFIED_POLL_MS) : wait.waitMs
    let unsubscribe = (): void => {}
    // Subscribes before the task is read, so that no change is missed in between
    const changed = new Promise<TaskRecord | undefined>((resolve) => {
      unsubscribe = this.subscribers.onChange(taskId, (task) => {
        if (!task || task.lastUpdatedAt > changedAfter) resolve(task)
      })
    })
    try {
      const task = await this.get(taskId, principal)
      if (!task || task.lastUpdatedAt > changedAfter || signal?.aborted) return task
      const notified = await withTimeout(waitMs, () => changed, signal).catch(() => undefined)
      return notified ?? (await this.get(taskId, principal))
    } finally {
      unsubscribe()
    }
  }

  /**
   * Changes a task, and notifies the subscribers. Returns the changed task.
   *
   * @param known The last known state of the task, which may be outdated. With it, the first attempt need not
   *   read the task.
   * @throws {SdkError} `LIMIT_EXCEEDED` if concurrent changes prevented all attempts.
   */
  async change(
    taskId: string,
    transition: Transition,
    known?: TaskRecord,
  ): Promise<TaskRecord | undefined> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const before = attempt === 0 && known ? known : await this.#store.load(taskId)
      if (!before) return undefined
      const after = transition(before, Date.now())
      if (!after) return before
      if (!(await this.#store.save(after))) continue
      if (after.lastUpdatedAt !== before.lastUpdatedAt) {
        this.subscribers.publishChange(taskId, after)
        this.#onChange?.(after)
      }
      return after
    }
    throw new SdkError('LIMIT_EXCEEDED', `Too many concurrent changes of the task "${taskId}"`)
  }

  /** Notifies the subscribers of a task that another process may have changed. */
  async #refresh(taskId: string): Promise<void> {
    try {
      this.subscribers.publishChange(taskId, await this.#store.load(taskId))
    } catch {
      // Nothing is lost, because callers of `next` read the task again after a while
    }
  }

  /** Stops the run of an expired task, and deletes the task. */
  async expire({ taskId }: TaskRecord): Promise<void> {
    await this.change(taskId, finish({ error: TASK_EXPIRED }))
    await this.#store.remove(taskId)
  }
}
