/**
 * A Durable Object for one task. It stores the task, and runs it in its alarm handler, so that the platform
 * restarts an interrupted run.
 *
 * @see https://developers.cloudflare.com/durable-objects/api/alarms/
 */
import { DurableObject } from 'cloudflare:workers'
import type {
  InputOutcome,
  NewTask,
  ReportedOutcome,
  ServerTasks,
  TaskEngine,
} from '#internal/tasks'
import type { TaskRecord } from '../../src/tasks/index.ts'
import { requireSql } from './bindings.ts'
import type { DurableObjectClass } from './session-object.ts'
import { sendEvent } from './stream-socket.ts'
import { HEADER_PRINCIPAL, isFinal, jsonCopy } from './task-service.ts'
import { ObjectTaskStore } from './task-store.ts'

/** The number of an alarm's last retry on the platform. This retry must end the task. */
const LAST_RETRY = 5

/** Creates the class of the objects that store and run the tasks of a server, one task each. */
export function taskObject(tasks: () => ServerTasks): DurableObjectClass {
  return class McpTask extends DurableObject {
    readonly #store: ObjectTaskStore
    readonly #engine: TaskEngine

    constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
      super(ctx, env)
      this.#store = new ObjectTaskStore(requireSql(ctx.storage, 'McpTask'))
      // The alarm handler runs the task
      const begin = (): Promise<void> => ctx.storage.setAlarm(Date.now())
      const onChange = (task: TaskRecord): void => {
        for (const socket of ctx.getWebSockets()) sendTask(socket, task)
      }
      this.#engine = tasks().createEngine({ store: this.#store, begin, onChange })
    }

    /** Opens the socket of a listener. The socket does not keep the object in memory. */
    override async fetch(request: Request): Promise<Response> {
      const principal = JSON.parse(request.headers.get(HEADER_PRINCIPAL) ?? 'null') as string | null
      const task = await this.#engine.get(this.#id, principal)
      if (!task) return new Response(null, { status: 404 })
      const { 0: client, 1: socket } = new WebSocketPair()
      this.ctx.acceptWebSocket(socket)
      sendTask(socket, task)
      return new Response(null, { status: 101, webSocket: client })
    }

    override webSocketMessage(): void {}

    override webSocketClose(socket: WebSocket): void {
      socket.close()
    }

    async create(task: NewTask): Promise<TaskRecord> {
      const existing = this.#store.load(this.#id)
      try {
        return jsonCopy(await this.#engine.create(task, {}))
      } catch (error) {
        // The task may be stored without an alarm. It would then never run or expire
        if (!existing) await this.ctx.storage.deleteAll()
        throw error
      }
    }

    read(principal: string | null): Promise<TaskRecord | undefined> {
      return this.#engine.get(this.#id, principal)
    }

    async next(
      principal: string | null,
      changedAfter: number,
      waitMs: number,
    ): Promise<TaskRecord | undefined> {
      const task = await this.#engine.next({ taskId: this.#id, principal, changedAfter, waitMs })
      return task && jsonCopy(task)
    }

    answer(
      principal: string | null,
      outcomes: { readonly [wireKey: string]: InputOutcome },
    ): Promise<TaskRecord | undefined> {
      return this.#engine.answer(this.#id, principal, outcomes, {})
    }

    cancel(principal: string | null): Promise<TaskRecord | undefined> {
      return this.#engine.cancel(this.#id, principal)
    }

    settle(outcome: ReportedOutcome): Promise<boolean> {
      return this.#engine.settle(this.#id, outcome)
    }

    setStatusMessage(statusMessage: string): Promise<boolean> {
      return this.#engine.setStatusMessage(this.#id, statusMessage)
    }

    /** Runs the task, or deletes it if it has expired. */
    override async alarm(info?: AlarmInvocationInfo): Promise<void> {
      const { storage } = this.ctx
      const task = this.#store.load(this.#id)
      if (task && (info?.retryCount ?? 0) >= LAST_RETRY) {
        const message = 'The run of the task was interrupted too often'
        try {
          await this.#engine.settle(this.#id, { error: { code: -32603, message } })
        } catch (error) {
          // The platform does not retry this alarm again, so the alarm is set for the time at which the task expires
          console.error(error)
          return storage.setAlarm(Math.max(Date.now(), task.createdAt + task.ttlMs))
        }
      }
      const waitUntil = (work: Promise<unknown>): void => this.ctx.waitUntil(work)
      if (task) await this.#engine.run(this.#id, { env: this.env, waitUntil })
      const storedTask = await this.#engine.expire(this.#id)
      if (!storedTask) {
        await storage.deleteAlarm()
        await storage.deleteAll()
      } else if ((await storage.getAlarm()) === null) {
        // If an alarm is already set, the client has sent input in the meantime, and the alarm continues the run
        await storage.setAlarm(storedTask.createdAt + storedTask.ttlMs)
      }
    }

    get #id(): string {
      return this.ctx.id.toString()
    }
  }
}

/** Sends the state of a task to a listener, and closes the socket after a final state. */
function sendTask(socket: WebSocket, task: TaskRecord): void {
  try {
    sendEvent(socket, { data: JSON.stringify(task) })
    if (isFinal(task)) socket.close(1000)
  } catch {
    // A disconnected listener needs no update
  }
}
