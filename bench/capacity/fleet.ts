/** The processes of the capacity check with their database, and what they counted together. */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import postgres from 'postgres'
import { startPostgres } from '../../test/postgres/server.ts'
import { buildForNode } from '../build.ts'
import { pause } from './measured.ts'
import type { ProcessCounts } from './process.ts'

const SCHEMA = 'capacity'
/** Connections of Postgres report their counts at this interval. */
const REPORT_MS = 1_200

/** What all processes counted together since their start, and the rows of the database. */
export interface FleetCounts extends Omit<ProcessCounts, 'url'> {
  /** Inserted, updated or deleted, in all tables but that of the processes. */
  rowsWritten: number
  sessionUpdates: number
  changesInserted: number
  databaseBytes: number
}

/** Processes that share a database. */
export interface Fleet {
  readonly urls: readonly string[]
  /** Lets one process announce a change of a client's resource. */
  announce(process: number, client: number): void
  counts(): Promise<FleetCounts>
  stop(): Promise<void>
}

/** Starts processes and their database. */
export async function startFleet(count: number, pool: number): Promise<Fleet> {
  const script = await buildForNode('capacity/process.ts')
  const database = await startPostgres()
  const sql = postgres(database.url, { fetch_types: false, onnotice: () => {}, max: 1 })
  const children: ChildProcess[] = []
  for (let n = 0; n < count; n++) {
    const child = fork(script, [database.url, SCHEMA, String(pool)], {
      execArgv: ['--expose-gc'],
      env: { ...process.env, NODE_ENV: 'production' },
    })
    children.push(child)
    await once(child, 'message')
  }
  const ask = async (child: ChildProcess): Promise<ProcessCounts> => {
    child.send('counts')
    const [counts] = (await once(child, 'message')) as [ProcessCounts]
    return counts
  }
  const first = await Promise.all(children.map(ask))
  const tables = async () => {
    const rows = await sql<{ name: string; inserted: number; updated: number; deleted: number }[]>`
      SELECT relname AS name, n_tup_ins::float8 AS inserted, n_tup_upd::float8 AS updated,
        n_tup_del::float8 AS deleted
      FROM pg_stat_user_tables WHERE schemaname = ${SCHEMA} AND relname <> 'mcp_processes'`
    return {
      named: (name: string) => rows.find((row) => row.name === name),
      rowsWritten: rows.reduce((sum, row) => sum + row.inserted + row.updated + row.deleted, 0),
    }
  }
  return {
    urls: first.map(({ url }) => url),
    announce: (index, client) => void children[index % count]?.send(client),
    async counts() {
      await pause(REPORT_MS)
      const all = await Promise.all(children.map(ask))
      const sum = (name: Exclude<keyof ProcessCounts, 'url'>): number =>
        all.reduce((total, counts) => total + counts[name], 0)
      const { named, rowsWritten } = await tables()
      const [size] = await sql<{ bytes: number }[]>`
        SELECT pg_total_relation_size(${`${SCHEMA}.mcp_sessions`}::regclass)::float8 AS bytes`
      return {
        queries: sum('queries'),
        notified: sum('notified'),
        cpuUs: sum('cpuUs'),
        heapBytes: sum('heapBytes'),
        rssBytes: sum('rssBytes'),
        rowsWritten,
        sessionUpdates: named('mcp_sessions')?.updated ?? 0,
        changesInserted: named('mcp_changes')?.inserted ?? 0,
        databaseBytes: size?.bytes ?? 0,
      }
    },
    async stop() {
      for (const child of children) child.kill('SIGKILL')
      await sql.end({ timeout: 1 })
      await database.stop()
    },
  }
}
