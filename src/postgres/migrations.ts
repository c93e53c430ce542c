/**
 * Creates and updates the tables of a schema. Several processes may do so at once.
 *
 * @see https://www.postgresql.org/docs/current/explicit-locking.html#ADVISORY-LOCKS
 */
import type { PostgresClient, PostgresQueries } from './client.ts'
import { EVENTS } from './events/schema.ts'
import { COUNTS } from './sessions/counts.ts'
import { SESSIONS, TURNS } from './sessions/schema.ts'

/** The script that creates the table of rate limits. Keys are hashed, so that all have the same length. */
const RATE_LIMITS = `CREATE TABLE mcp_rate_limits (
    key bytea PRIMARY KEY,
    total double precision NOT NULL,
    ends_at timestamptz NOT NULL
  );
  CREATE INDEX mcp_rate_limits_by_end ON mcp_rate_limits (ends_at);`

/**
 * The scripts that update the tables from one version to the next. The first script creates them. Released
 * scripts never change.
 */
export const MIGRATIONS: readonly string[] = [
  `CREATE TABLE mcp_processes (
    id text PRIMARY KEY,
    seen_at timestamptz NOT NULL
  );
  CREATE TABLE mcp_changes (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    origin text NOT NULL,
    change text NOT NULL,
    at timestamptz NOT NULL DEFAULT now()
  );
  CREATE TABLE mcp_tasks (
    id text PRIMARY KEY,
    seq bigint GENERATED ALWAYS AS IDENTITY,
    principal text NOT NULL,
    version integer NOT NULL,
    finished boolean NOT NULL,
    runnable_at bigint,
    expires_at bigint NOT NULL,
    record json NOT NULL
  );
  CREATE INDEX mcp_tasks_by_principal ON mcp_tasks (principal, seq);
  CREATE INDEX mcp_tasks_by_expiry ON mcp_tasks (expires_at);
  CREATE INDEX mcp_tasks_unfinished ON mcp_tasks (seq) WHERE NOT finished;
  CREATE INDEX mcp_tasks_runnable ON mcp_tasks (runnable_at) WHERE runnable_at IS NOT NULL;`,
  SESSIONS,
  EVENTS,
  COUNTS,
  RATE_LIMITS,
  TURNS,
]

/** Whether all of the scripts were applied to a schema. */
export async function isMigrated(
  client: PostgresClient,
  schema: string,
  scripts: readonly string[],
): Promise<boolean> {
  return (await versionOf(client, schema)) === scripts.length
}

/**
 * Runs the scripts that were not yet applied to a schema, in one transaction.
 *
 * @throws {Error} If a later version of the package created the tables.
 */
export async function migrate(
  client: PostgresClient,
  schema: string,
  scripts: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  await client.begin(async (queries) => {
    signal.throwIfAborted()
    await queries.unsafe('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
      `edgewise ${schema}`,
    ])
    // Another process may have finished the migration in the meantime
    const version = await versionOf(queries, schema)
    if (version > scripts.length) throw newerSchema(schema, version, scripts.length)
    if (version === scripts.length) return
    // `CREATE SCHEMA IF NOT EXISTS` would need the permission to create schemas even if this schema exists
    const schemas = await queries.unsafe('SELECT FROM pg_namespace WHERE nspname = $1', [schema])
    if (schemas.length === 0) await queries.unsafe(`CREATE SCHEMA "${schema}"`)
    await queries.unsafe(`SET LOCAL search_path TO "${schema}"`)
    if (version === 0) await queries.unsafe('CREATE TABLE mcp_schema (version integer NOT NULL)')
    for (const script of scripts.slice(version)) await queries.unsafe(script)
    await queries.unsafe('DELETE FROM mcp_schema')
    await queries.unsafe('INSERT INTO mcp_schema VALUES ($1)', [scripts.length])
    signal.throwIfAborted()
  })
}

/** The version of the tables; 0 if there are none. */
async function versionOf(queries: PostgresQueries, schema: string): Promise<number> {
  // `to_regclass` is not used, because it may not see a table that another process has just committed
  const tableQuery = `SELECT FROM pg_tables WHERE schemaname = $1 AND tablename = 'mcp_schema'`
  if ((await queries.unsafe(tableQuery, [schema])).length === 0) return 0
  const [row] = await queries.unsafe(`SELECT version FROM "${schema}".mcp_schema`)
  return (row as { version: number } | undefined)?.version ?? 0
}

function newerSchema(schema: string, version: number, supported: number): Error {
  return new Error(
    `Cannot use the schema "${schema}": its tables have version ${version}, but this package supports at most version ${supported}. Update the package`,
  )
}
