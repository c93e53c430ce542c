/**
 * Rate limits that hold across all processes, in a Postgres table.
 *
 * @see https://www.postgresql.org/docs/current/sql-insert.html#SQL-ON-CONFLICT
 */
import type { RateLimitStore } from '../server/middleware/rate-limit-store.ts'
import type { Queries } from './database.ts'

/** Adds to a counter, and starts a new period if there is none or the last one has ended. */
const ADD = `INSERT INTO {mcp_rate_limits} AS counter (key, total, ends_at)
  VALUES (sha256(convert_to($1, 'UTF8')), $2, now() + $3 * interval '1 millisecond')
  ON CONFLICT (key) DO UPDATE SET
    total = CASE WHEN counter.ends_at > now() THEN counter.total ELSE 0 END + excluded.total,
    ends_at = CASE WHEN counter.ends_at > now() THEN counter.ends_at ELSE excluded.ends_at END
  RETURNING total, extract(epoch FROM ends_at - now())::double precision * 1000 AS "resetMs"`

/** On average, one in this many requests deletes old counters. */
const DELETE_EVERY = 1_000

/** Creates a store of counters. */
export function postgresRateLimits(database: Queries): RateLimitStore {
  return {
    async add(key, cost, perMs) {
      const [row] = await database.query<{ total: number; resetMs: number }>(ADD, key, cost, perMs)
      if (Math.random() * DELETE_EVERY < 1) {
        await database.query('DELETE FROM {mcp_rate_limits} WHERE ends_at < now()')
      }
      return { total: Number(row?.total), resetMs: Number(row?.resetMs) }
    },
  }
}
