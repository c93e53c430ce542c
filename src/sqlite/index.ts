/**
 * Sessions, tasks and events in SQLite: in a Durable Object, `node:sqlite` (Node 22.5 and later, Deno) or
 * `bun:sqlite`.
 *
 * @module
 */
export { SqlEventStorage } from './event-storage.ts'
export { SqlSessionStore } from './session-store.ts'
export { adaptSqlite, type Sql, type SqliteDatabase } from './sql.ts'
export { SqlTaskStore } from './task-store.ts'
