/**
 * A task store in Postgres, for tasks that any of several processes may run.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 */
import { expiresAt, isFinal, isReadyToRun, type TaskRecord } from '../tasks/record.ts'
import type { JsonRpcNotification } from '../protocol/types.ts'
import type { TaskStore, TaskStoreSubscriber } from '../tasks/store.ts'
import { payloadOf, type Bus } from './bus.ts'
import type { PostgresValue } from './client.ts'
import type { Database } from './database.ts'
import { splitMessage, TaskMessages } from './task-messages.ts'

/** The topic of notifications that a task has changed. */
const CHANGED = 'task'

/** The topic of notifications with a message from the handler of a task. */
const MESSAGE = 'task-message'

/** How many tasks of crashed processes are taken over at a time. */
const MAX_UNLEASED = 1_000

const COUNT_TASKS = 'SELECT count(*)::float8 AS count FROM {mcp_tasks}'

/** Stores tasks in a table that several processes share. */
export class PostgresTaskStore implements TaskStore {
  readonly #database: Database
  readonly #bus: Bus
  /** Identifies the changes of this store among the notifications. */
  readonly #origin = crypto.randomUUID()
  /** By the ids of tasks, promises that settle when the messages of the task have been sent. */
  readonly #sending = new Map<string, Promise<void>>()

  constructor(database: Database, bus: Bus) {
    this.#database = database
    this.#bus = bus
  }

  async load(taskId: string): Promise<TaskRecord | undefined> {
    // A client may send any text as an id, but Postgres rejects a text with this character
    if (taskId.includes('\0')) return undefined
    const [found] = await this.#find('WHERE id = $1', taskId)
    return found
  }

  async save(record: TaskRecord): Promise<boolean> {
    const { taskId, version, call, leasedUntil = 0 } = record
    const runnableAt = isReadyToRun(record) ? leasedUntil : null
    const text = JSON.stringify(record)
    // Messages come first, because after the end of the task its client no longer waits for them
    await this.#sending.get(taskId)
    const savedRows =
      version === 1
        ? await this.#database.query(
            `INSERT INTO {mcp_tasks}
               (id, principal, version, finished, runnable_at, expires_at, record)
             VALUES ($1, $2, 1, $3, $4, $5, $6::text::json) ON CONFLICT DO NOTHING RETURNING id`,
            taskId,
            principalKey(call.principal),
            isFinal(record),
            runnableAt,
            expiresAt(record),
            text,
          )
        : await this.#database.query(
            `WITH saved AS (
               UPDATE {mcp_tasks}
               SET version = $2, finished = $3, runnable_at = $4, record = $5::text::json
               WHERE id = $1 AND version = $2 - 1 RETURNING id
             )
             SELECT pg_notify($6, $7) FROM saved`,
            taskId,
            version,
            isFinal(record),
            runnableAt,
            text,
            ...this.#notification(taskId),
          )
    return savedRows.length > 0
  }

  async remove(taskId: string): Promise<void> {
    await this.#database.query(
      `WITH removed AS (DELETE FROM {mcp_tasks} WHERE id = $1 RETURNING id)
       SELECT pg_notify($2, $3) FROM removed`,
      taskId,
      ...this.#notification(taskId),
    )
  }

  subscribe(subscriber: TaskStoreSubscriber): () => void {
    const messages = new TaskMessages((taskId, message) => subscriber.onMessage(taskId, message))
    const stops = [
      this.#bus.subscribe(CHANGED, {
        wake: (key) => {
          const [origin, taskId] = key.split(' ')
          if (origin !== this.#origin) subscriber.onChange(taskId)
        },
        resync: () => subscriber.onChange(undefined),
      }),
      this.#bus.subscribe(MESSAGE, {
        wake: (key) => {
          if (!key.startsWith(this.#origin)) messages.receive(key)
        },
        resync: () => messages.clear(),
      }),
    ]
    return () => stops.forEach((stop) => stop())
  }

  publishMessage(taskId: string, message: JsonRpcNotification): void {
    const send = async (): Promise<void> => {
      for (const key of splitMessage(this.#origin, taskId, message)) {
        await this.#bus.send(MESSAGE, key)
      }
    }
    // The messages of a task are sent one after the other, so that they arrive in order
    const sending = (this.#sending.get(taskId) ?? Promise.resolve())
      .then(send)
      .catch((error: unknown) => this.#database.report(error))
      .finally(() => {
        if (this.#sending.get(taskId) === sending) this.#sending.delete(taskId)
      })
    this.#sending.set(taskId, sending)
  }

  async count(principal?: string | null): Promise<number> {
    const [row] =
      principal === undefined
        ? await this.#database.query<{ count: number }>(COUNT_TASKS)
        : await this.#database.query<{ count: number }>(
            `${COUNT_TASKS} WHERE principal = $1`,
            principalKey(principal),
          )
    return row?.count ?? 0
  }

  list(principal: string | null, limit: number, after = ''): Promise<TaskRecord[]> {
    const afterSeq = 'coalesce((SELECT seq FROM {mcp_tasks} WHERE id = $2), 0)'
    const where = `WHERE principal = $1 AND seq > ${afterSeq} ORDER BY seq LIMIT $3`
    return this.#find(where, principalKey(principal), after, limit)
  }

  expired(now: number): Promise<TaskRecord[]> {
    return this.#find('WHERE expires_at <= $1 ORDER BY seq', now)
  }

  unfinished(): Promise<TaskRecord[]> {
    return this.#find('WHERE NOT finished ORDER BY seq')
  }

  async unleased(expiredBefore: number): Promise<string[]> {
    const rows = await this.#database.query<{ id: string }>(
      `SELECT id FROM {mcp_tasks} WHERE runnable_at <= $1
       ORDER BY runnable_at LIMIT ${MAX_UNLEASED}`,
      expiredBefore,
    )
    return rows.map(({ id }) => id)
  }

  async nextExpiry(): Promise<number | undefined> {
    const query = 'SELECT min(expires_at)::float8 AS at FROM {mcp_tasks}'
    const [row] = await this.#database.query<{ at: number | null }>(query)
    return row?.at ?? undefined
  }

  #notification(taskId: string): [channel: string, payload: string] {
    return [this.#bus.channelName(), payloadOf(CHANGED, `${this.#origin} ${taskId}`)]
  }

  async #find(where: string, ...values: PostgresValue[]): Promise<TaskRecord[]> {
    const query = `SELECT record::text AS record FROM {mcp_tasks} ${where}`
    const rows = await this.#database.query<{ record: string }>(query, ...values)
    return rows.map(({ record }) => JSON.parse(record) as TaskRecord)
  }
}

/** A principal as JSON. Callers without a principal have the key `null`, which no principal has. */
function principalKey(principal: string | null): string {
  return JSON.stringify(principal)
}
