/**
 * A task store in Postgres, for tasks that any of several processes may run.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 */
import { expiresAt, isFinal, type TaskRecord } from '../tasks/record.ts'
import type { TaskStore } from '../tasks/store.ts'
import { payloadOf, type Bus } from './bus.ts'
import type { Database } from './database.ts'

const TOPIC = 'task'

/** Stores tasks in a table that several processes share. */
export class PostgresTaskStore implements TaskStore {
  readonly #database: Database
  readonly #bus: Bus

  constructor(database: Database, bus: Bus) {
    this.#database = database
    this.#bus = bus
  }

  async load(taskId: string): Promise<TaskRecord | undefined> {
    // A client may ask for any text, and Postgres stores none with this character
    if (taskId.includes('\0')) return undefined
    const [found] = await this.#find('WHERE id = $1', taskId)
    return found
  }

  async save(record: TaskRecord): Promise<boolean> {
    const { taskId, version } = record
    const saved =
      version === 1
        ? await this.#database.query(
            `INSERT INTO {mcp_tasks} (id, principal, version, finished, expires_at, record)
             VALUES ($1, $2, 1, false, $3, $4) ON CONFLICT DO NOTHING RETURNING id`,
            taskId,
            JSON.stringify(record.call.principal),
            expiresAt(record),
            JSON.stringify(record),
          )
        : await this.#database.query(
            `WITH saved AS (
               UPDATE {mcp_tasks} SET version = $2, finished = $3, record = $4
               WHERE id = $1 AND version = $2 - 1 RETURNING id
             )
             SELECT pg_notify($5, $6) FROM saved`,
            taskId,
            version,
            isFinal(record),
            JSON.stringify(record),
            this.#bus.channel(),
            payloadOf(TOPIC, taskId),
          )
    return saved.length > 0
  }

  async remove(taskId: string): Promise<void> {
    await this.#database.query(
      `WITH removed AS (DELETE FROM {mcp_tasks} WHERE id = $1 RETURNING id)
       SELECT pg_notify($2, $3) FROM removed`,
      taskId,
      this.#bus.channel(),
      payloadOf(TOPIC, taskId),
    )
  }

  async count(principal?: string | null): Promise<number> {
    const query = 'SELECT count(*)::float8 AS count FROM {mcp_tasks}'
    const [row] =
      principal === undefined
        ? await this.#database.query<{ count: number }>(query)
        : await this.#database.query<{ count: number }>(
            `${query} WHERE principal = $1`,
            JSON.stringify(principal),
          )
    return row?.count ?? 0
  }

  list(principal: string | null, limit: number, after = ''): Promise<TaskRecord[]> {
    const from = 'coalesce((SELECT seq FROM {mcp_tasks} WHERE id = $2), 0)'
    const where = `WHERE principal = $1 AND seq > ${from} ORDER BY seq LIMIT $3`
    return this.#find(where, JSON.stringify(principal), after, limit)
  }

  expired(now: number): Promise<TaskRecord[]> {
    return this.#find('WHERE expires_at <= $1 ORDER BY seq', now)
  }

  unfinished(): Promise<TaskRecord[]> {
    return this.#find('WHERE NOT finished ORDER BY seq')
  }

  async nextExpiry(): Promise<number | undefined> {
    const query = 'SELECT min(expires_at)::float8 AS at FROM {mcp_tasks}'
    const [row] = await this.#database.query<{ at: number | null }>(query)
    return row?.at ?? undefined
  }

  async #find(where: string, ...values: (string | number | null)[]): Promise<TaskRecord[]> {
    const query = `SELECT record FROM {mcp_tasks} ${where}`
    const rows = await this.#database.query<{ record: string }>(query, ...values)
    return rows.map(({ record }) => JSON.parse(record) as TaskRecord)
  }
}
