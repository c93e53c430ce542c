/**
 * A task store in SQLite, which outlives the process.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 */
import type { TaskRecord } from '../tasks/record.ts'
import type { TaskStore } from '../tasks/store.ts'
import { chunkText } from '../patterns/chunk-text.ts'
import { MAX_ROW_CHARACTERS } from './schema.ts'
import type { Sql, SqlValue } from './sql.ts'

// `seq` is the creation order. A record that is too long for one row continues in `mcp_task_pieces`.
const TABLES = `
  CREATE TABLE IF NOT EXISTS mcp_tasks (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    principal TEXT,
    version INTEGER NOT NULL,
    finished INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    record TEXT NOT NULL
  );
  CREATE TABLE IF NOT EXISTS mcp_task_pieces (
    task TEXT NOT NULL,
    n INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (task, n)
  ) WITHOUT ROWID;`
const INDEXES = `
  CREATE INDEX IF NOT EXISTS mcp_tasks_by_principal ON mcp_tasks (principal, seq);
  CREATE INDEX IF NOT EXISTS mcp_tasks_by_expiry ON mcp_tasks (expires_at);
  CREATE INDEX IF NOT EXISTS mcp_tasks_unfinished ON mcp_tasks (seq) WHERE finished = 0;`

const FINAL_STATUSES: readonly unknown[] = ['completed', 'failed', 'cancelled']

/** The options of {@link SqlTaskStore}. */
export interface SqlTaskStoreOptions {
  /**
   * Whether to create indexes. In a database with a single task, indexes cost more than they save.
   *
   * @default true
   */
  indexes?: boolean
  /**
   * Receives errors about damaged rows, whose tasks cannot be read.
   *
   * @default console.error
   */
  onError?: (error: unknown) => void
}

/**
 * Stores tasks in a database. The first task creates the tables.
 *
 * @example
 * ```ts
 * import { createServer } from 'edgewise/server'
 * import { adaptSqlite, SqlTaskStore, type SqliteDatabase } from 'edgewise/sqlite'
 * import { tasks } from 'edgewise/tasks'
 *
 * // For example `new DatabaseSync('tasks.db')` of `node:sqlite`
 * export async function createBakery(database: SqliteDatabase) {
 *   const server = createServer({ name: 'bakery', version: '1.0.0' })
 *   const baking = tasks({ store: new SqlTaskStore(adaptSqlite(database)) })
 *   server.extend(baking)
 *   server.tool('bake', { task: 'required' }, () => 'Baked')
 *   await baking.resume()
 *   return server
 * }
 * ```
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 */
export class SqlTaskStore implements TaskStore {
  readonly #sql: Sql
  readonly #tables: string
  readonly #onError: (error: unknown) => void
  #ready: boolean

  constructor(sql: Sql, { indexes = true, onError = console.error }: SqlTaskStoreOptions = {}) {
    this.#sql = sql
    this.#onError = onError
    this.#tables = indexes ? TABLES + INDEXES : TABLES
    this.#ready =
      sql.all(`SELECT 1 AS found FROM sqlite_master WHERE name = 'mcp_tasks'`).length > 0
  }

  load(taskId: string): TaskRecord | undefined {
    return this.#find('WHERE id = ?', taskId)[0]
  }

  save(record: TaskRecord): boolean {
    if (!this.#ready) this.#sql.run(this.#tables)
    this.#ready = true
    return this.#sql.transaction(() => this.#save(record))
  }

  #save(record: TaskRecord): boolean {
    const { taskId, version, status } = record
    const [text = '', ...furtherChunks] = chunkText(JSON.stringify(record), MAX_ROW_CHARACTERS)
    const finished = FINAL_STATUSES.includes(status) ? 1 : 0
    const savedRows =
      version === 1
        ? this.#sql.all(
            `INSERT INTO mcp_tasks (id, principal, version, finished, expires_at, record)
             VALUES (?, ?, 1, 0, ?, ?) ON CONFLICT DO NOTHING RETURNING id`,
            taskId,
            record.call.principal,
            record.createdAt + record.ttlMs,
            text,
          )
        : this.#sql.all(
            `UPDATE mcp_tasks SET version = ?, finished = ?, record = ?
             WHERE id = ? AND version = ? RETURNING id`,
            version,
            finished,
            text,
            taskId,
            version - 1,
          )
    if (savedRows.length === 0) return false
    if (version > 1) this.#sql.all('DELETE FROM mcp_task_pieces WHERE task = ?', taskId)
    for (const [n, chunk] of furtherChunks.entries()) {
      this.#sql.all(
        'INSERT INTO mcp_task_pieces (task, n, text) VALUES (?, ?, ?)',
        taskId,
        n,
        chunk,
      )
    }
    return true
  }

  remove(taskId: string): void {
    if (!this.#ready) return
    this.#sql.all('DELETE FROM mcp_tasks WHERE id = ?', taskId)
    this.#sql.all('DELETE FROM mcp_task_pieces WHERE task = ?', taskId)
  }

  count(principal?: string | null): number {
    if (!this.#ready) return 0
    const query = 'SELECT count(*) AS count FROM mcp_tasks'
    const [row] =
      principal === undefined
        ? this.#sql.all<{ count: number }>(query)
        : this.#sql.all<{ count: number }>(`${query} WHERE principal IS ?`, principal)
    return row?.count ?? 0
  }

  list(principal: string | null, limit: number, after?: string): TaskRecord[] {
    const afterSeq = 'coalesce((SELECT seq FROM mcp_tasks WHERE id = ?), 0)'
    const where = `WHERE principal IS ? AND seq > ${afterSeq} ORDER BY seq LIMIT ?`
    return this.#find(where, principal, after ?? '', limit)
  }

  expired(now: number): TaskRecord[] {
    const tasks = this.#find('WHERE expires_at <= ?', now)
    if (!this.#ready) return tasks
    // Damaged rows are never returned, so they are removed here
    const query = 'SELECT id FROM mcp_tasks WHERE expires_at <= ?'
    const rows = this.#sql.all<{ id: string }>(query, now)
    const readableIds = new Set(tasks.map(({ taskId }) => taskId))
    for (const { id } of rows) if (!readableIds.has(id)) this.remove(id)
    return tasks
  }

  unfinished(): TaskRecord[] {
    return this.#find('WHERE finished = 0 ORDER BY seq')
  }

  nextExpiry(): number | undefined {
    if (!this.#ready) return undefined
    const query = 'SELECT min(expires_at) AS at FROM mcp_tasks'
    return this.#sql.all<{ at: number | null }>(query)[0]?.at ?? undefined
  }

  /** Call this after the whole database was erased. The next write creates the tables again. */
  markErased(): void {
    this.#ready = false
  }

  #find(where: string, ...bindings: SqlValue[]): TaskRecord[] {
    if (!this.#ready) return []
    const query = `SELECT id, record FROM mcp_tasks ${where}`
    return this.#sql.all<{ id: string; record: string }>(query, ...bindings).flatMap((row) => {
      // If there are further chunks, the first chunk has the maximum length, or one UTF-16 unit less, because
      // a chunk does not end within a surrogate pair
      const isWhole = row.record.length < MAX_ROW_CHARACTERS - 1
      const text = isWhole ? row.record : this.#joinChunks(row)
      try {
        const record = JSON.parse(text) as TaskRecord
        if (record.taskId === row.id) return [record]
      } catch {}
      // A damaged row must not affect other tasks
      this.#onError(new Error(`The task "${row.id}" cannot be read from its row`))
      return []
    })
  }

  #joinChunks({ id, record }: { id: string; record: string }): string {
    const query = 'SELECT text FROM mcp_task_pieces WHERE task = ? ORDER BY n'
    const chunks = this.#sql.all<{ text: string }>(query, id)
    return record + chunks.map(({ text }) => text).join('')
  }
}
