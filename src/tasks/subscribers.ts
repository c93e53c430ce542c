/**
 * The subscribers in this process. They receive the changes of tasks, and the messages that the handlers of
 * tasks send.
 */
import type { JsonRpcNotification } from '../protocol/types.ts'
import type { TaskRecord } from './record.ts'

type Listener<Value> = (value: Value) => void

/** Passes the changes and messages of each task to the subscribers of the task. */
export class TaskSubscribers {
  readonly #changes = new ListenersByTask<TaskRecord | undefined>()
  readonly #messages = new ListenersByTask<JsonRpcNotification>()

  /**
   * Subscribes to the changes of a task, and to its deletion. After the deletion, the listener is called with
   * `undefined`. Returns a function that unsubscribes.
   */
  onChange(taskId: string, listener: Listener<TaskRecord | undefined>): () => void {
    return this.#changes.subscribe(taskId, listener)
  }

  /** Subscribes to messages from the handler of a task. Returns a function that unsubscribes. */
  onMessage(taskId: string, listener: Listener<JsonRpcNotification>): () => void {
    return this.#messages.subscribe(taskId, listener)
  }

  /** Whether the changes of a task have a listener. */
  hasChangeListener(taskId: string): boolean {
    return this.#changes.has(taskId)
  }

  /** The ids of all tasks whose changes have a listener. */
  watchedTaskIds(): string[] {
    return this.#changes.taskIds()
  }

  /** Publishes a changed or deleted task. */
  publishChange(taskId: string, task: TaskRecord | undefined): void {
    this.#changes.publish(taskId, task)
  }

  /** Publishes a message from the handler of a task. */
  publishMessage(taskId: string, message: JsonRpcNotification): void {
    this.#messages.publish(taskId, message)
  }
}

/** The listeners of each task. A task without listeners takes no memory. */
class ListenersByTask<Value> {
  readonly #listeners = new Map<string, Set<Listener<Value>>>()

  subscribe(taskId: string, listener: Listener<Value>): () => void {
    const listeners = this.#listeners.get(taskId) ?? new Set()
    this.#listeners.set(taskId, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      // A second call must not remove the listeners that were added since the first call
      if (listeners.size === 0 && this.#listeners.get(taskId) === listeners)
        this.#listeners.delete(taskId)
    }
  }

  has(taskId: string): boolean {
    return this.#listeners.has(taskId)
  }

  taskIds(): string[] {
    return [...this.#listeners.keys()]
  }

  publish(taskId: string, value: Value): void {
    for (const listener of this.#listeners.get(taskId) ?? []) listener(value)
  }
}
