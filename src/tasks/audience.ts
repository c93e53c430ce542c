/**
 * Who waits for tasks in this process: for their changes, and for what handlers send meanwhile.
 */
import type { JsonRpcNotification } from '../protocol/jsonrpc.ts'
import type { TaskRecord } from './record.ts'

type Listener<T> = (told: T) => void

/** Tells those who listen to a task. */
export class Audience {
  readonly #changes = new Topics<TaskRecord>()
  readonly #messages = new Topics<JsonRpcNotification>()

  /** Hears of the changes of a task; gives what ends that. */
  watch(taskId: string, listener: Listener<TaskRecord>): () => void {
    return this.#changes.listen(taskId, listener)
  }

  /** Hears what the handler of a task sends; gives what ends that. */
  hear(taskId: string, listener: Listener<JsonRpcNotification>): () => void {
    return this.#messages.listen(taskId, listener)
  }

  /** Tells of a task that changed. */
  changed(task: TaskRecord): void {
    this.#changes.tell(task.taskId, task)
  }

  /** Passes on what the handler of a task sends. */
  sent(taskId: string, message: JsonRpcNotification): void {
    this.#messages.tell(taskId, message)
  }
}

/** Listeners by task; nothing is left of a task to which nobody listens. */
class Topics<T> {
  readonly #all = new Map<string, Set<Listener<T>>>()

  listen(taskId: string, listener: Listener<T>): () => void {
    let known = this.#all.get(taskId)
    if (!known) this.#all.set(taskId, (known = new Set()))
    known.add(listener)
    return () => {
      known.delete(listener)
      if (known.size === 0 && this.#all.get(taskId) === known) this.#all.delete(taskId)
    }
  }

  tell(taskId: string, told: T): void {
    for (const listener of this.#all.get(taskId) ?? []) listener(told)
  }
}
