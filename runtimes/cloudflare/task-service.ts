/**
 * How the Worker and the session objects reach tasks. Each task has its own Durable Object, whose id is
 * the id of the task.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 */
import { backoffMs, sleep, untilAborted } from '#internal/patterns'
import type {
  ReportedOutcome,
  InputOutcome,
  NewTask,
  TaskService,
  TaskWaitOptions,
} from '#internal/tasks'
import type { TaskRecord } from '../../src/tasks/index.ts'
import { withObjectTimeout } from './object-timeout.ts'
import { objectIdOf } from './session-id.ts'
import { receiveEvents } from './stream-socket.ts'

/** The methods of the object of a task, as the Worker calls them. They correspond to those of `TaskService`. */
export interface TaskObject extends Rpc.DurableObjectBranded {
  create(task: NewTask): Promise<TaskRecord>
  read(principal: string | null): Promise<TaskRecord | undefined>
  next(
    principal: string | null,
    changedAfter: number,
    waitMs: number,
  ): Promise<TaskRecord | undefined>
  answer(
    principal: string | null,
    outcomes: { readonly [wireKey: string]: InputOutcome },
  ): Promise<TaskRecord | undefined>
  cancel(principal: string | null): Promise<TaskRecord | undefined>
  settle(outcome: ReportedOutcome): Promise<boolean>
  setStatusMessage(statusMessage: string): Promise<boolean>
}

/**
 * The header with the principal of a listener, as JSON. It can be trusted, because only the Worker can
 * send requests to an object.
 */
export const HEADER_PRINCIPAL = 'edgewise-principal'

/**
 * The shortest time for which `next` waits for a change, in milliseconds. A longer wait delays nothing,
 * because the object reports each change immediately.
 */
const MIN_WAIT_MS = 25_000
/** The first delay before a listener reconnects to a replaced object, in milliseconds. */
const FIRST_DELAY_MS = 1000
/** The longest delay before a listener reconnects, in milliseconds. */
const MAX_DELAY_MS = 60_000

/** Whether a task is in a final state. */
export function isFinal({ status }: TaskRecord): boolean {
  return ['completed', 'failed', 'cancelled'].includes(status)
}

/** Calls the objects of tasks. */
export class ObjectTasks implements TaskService {
  readonly #namespace: DurableObjectNamespace<TaskObject>

  constructor(namespace: DurableObjectNamespace<TaskObject>) {
    this.#namespace = namespace
  }

  createId(): string {
    return this.#namespace.newUniqueId().toString()
  }

  async create(task: NewTask): Promise<TaskRecord> {
    const object = this.#require(task.taskId)
    return withObjectTimeout('task', () => object.create(jsonCopy(task)))
  }

  async get(taskId: string, principal: string | null): Promise<TaskRecord | undefined> {
    return this.#callObject(taskId, (task) => task.read(principal))
  }

  async next({
    taskId,
    principal,
    changedAfter,
    waitMs,
    signal,
  }: TaskWaitOptions): Promise<TaskRecord | undefined> {
    const objectWaitMs = waitMs === 0 ? 0 : Math.max(waitMs, MIN_WAIT_MS)
    const change = this.#find(taskId)?.next(principal, changedAfter, objectWaitMs)
    if (!change || !signal) return change
    return untilAborted(Promise.resolve(change), signal)
  }

  async watch(
    taskId: string,
    principal: string | null,
    listener: (task: TaskRecord) => void,
  ): Promise<() => void> {
    let stopped = false
    let socket: WebSocket | undefined
    let failures = 0
    const connect = async (): Promise<void> => {
      const opened = await this.#open(taskId, principal)
      if (!opened) return
      receiveEvents(opened, ({ data }) => {
        const task = JSON.parse(data) as TaskRecord
        failures = 0
        stopped ||= isFinal(task)
        listener(task)
      })
      const ended = new Promise((resolve) => {
        for (const end of ['close', 'error'] as const) opened.addEventListener(end, resolve)
      })
      void ended.then(reconnect)
      socket = opened
      socket.accept()
      if (stopped) socket.close(1000)
    }
    // An object that has crashed or was redeployed starts again soon, and sends the state of the task
    const reconnect = async (): Promise<void> => {
      if (stopped) return
      await sleep(backoffMs(failures++, FIRST_DELAY_MS, MAX_DELAY_MS))
      try {
        if (!stopped) await connect()
      } catch (error) {
        console.error(error)
        await reconnect()
      }
    }
    await connect()
    return () => {
      stopped = true
      socket?.close(1000)
    }
  }

  /** Opens the socket of a listener to a task. Returns `undefined` if the caller has no such task. */
  async #open(taskId: string, principal: string | null): Promise<WebSocket | undefined> {
    const headers = { upgrade: 'websocket', [HEADER_PRINCIPAL]: JSON.stringify(principal) }
    const response = await this.#callObject(taskId, (task, signal) =>
      task.fetch('https://task/', { headers, signal }),
    )
    return response?.webSocket ?? undefined
  }

  async answer(
    taskId: string,
    principal: string | null,
    outcomes: { readonly [wireKey: string]: InputOutcome },
  ): Promise<TaskRecord | undefined> {
    return this.#callObject(taskId, (task) => task.answer(principal, jsonCopy(outcomes)))
  }

  async cancel(taskId: string, principal: string | null): Promise<TaskRecord | undefined> {
    return this.#callObject(taskId, (task) => task.cancel(principal))
  }

  async settle(taskId: string, outcome: ReportedOutcome): Promise<boolean> {
    return (await this.#callObject(taskId, (task) => task.settle(jsonCopy(outcome)))) ?? false
  }

  async setStatusMessage(taskId: string, statusMessage: string): Promise<boolean> {
    return (await this.#callObject(taskId, (task) => task.setStatusMessage(statusMessage))) ?? false
  }

  /**
   * Returns the object of a task. Returns `undefined` if the namespace did not create its id, so that guessed
   * ids cost nothing.
   */
  #find(taskId: string): DurableObjectStub<TaskObject> | undefined {
    const id = objectIdOf(this.#namespace, taskId)
    return id && this.#namespace.get(id)
  }

  /**
   * Calls the object of a task with a timeout, unless the id is invalid. `next`, which is meant to wait,
   * calls the object directly.
   */
  async #callObject<T>(
    taskId: string,
    call: (task: DurableObjectStub<TaskObject>, signal: AbortSignal) => Promise<T>,
  ): Promise<T | undefined> {
    const task = this.#find(taskId)
    return task && withObjectTimeout('task', (signal) => call(task, signal))
  }

  #require(taskId: string): DurableObjectStub<TaskObject> {
    const task = this.#find(taskId)
    if (task) return task
    throw new TypeError(`"${taskId}" is not a task id`)
  }
}

/** Copies a value through JSON, because calls between objects reject values without a prototype. */
export function jsonCopy<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T
}
