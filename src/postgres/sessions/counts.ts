/**
 * How many sessions there are, in total and for each account. Triggers count the sessions, so that opening a
 * session takes no longer when there are many. A session counts as its `weight`, see `session/quota.ts`.
 * `COUNTS` is the script that creates the counts, for `migrations.ts`.
 *
 * @see https://www.postgresql.org/docs/current/plpgsql-trigger.html
 */

/**
 * The account in the rows that count all sessions. No caller has this account: the accounts of callers are
 * JSON texts, and `all` is not valid JSON.
 */
export const ALL_ACCOUNTS = 'all'

/** The account under which sessions without an account are counted. */
export const NO_ACCOUNT = 'null'

/**
 * Each count is the sum of up to this many rows, so that sessions that open or end at the same time rarely
 * wait for the same row. The number must be a power of two.
 */
const SHARDS = 16

/** SQL expressions: the account of a session, and the shard of the rows that count the session. */
const ACCOUNT = `coalesce(account, '${NO_ACCOUNT}')`
const SHARD = `hashtext(id) & ${SHARDS - 1}`

/** An SQL query for the counts of the sessions in a table. */
function countsOf(table: string): string {
  return `SELECT ${ACCOUNT} AS account, ${SHARD} AS shard, sum(weight) AS total FROM ${table} GROUP BY 1, 2
    UNION ALL
    SELECT '${ALL_ACCOUNTS}', ${SHARD}, sum(weight) FROM ${table} GROUP BY 1, 2`
}

// The function does not contain the name of the schema, because a schema may be renamed. Rows are locked in the
// order of their keys, so that no two processes wait for each other.
const FUNCTION = `CREATE FUNCTION mcp_count_sessions() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_OP = 'TRUNCATE' THEN
      EXECUTE format('DELETE FROM %I.mcp_counts', TG_TABLE_SCHEMA);
      RETURN NULL;
    END IF;
    EXECUTE format($sql$
      INSERT INTO %I.mcp_counts AS c (account, shard, total)
      SELECT account, shard, total * $1 FROM (${countsOf('changed')}) AS counted ORDER BY account, shard
      ON CONFLICT (account, shard) DO UPDATE SET total = c.total + excluded.total
    $sql$, TG_TABLE_SCHEMA) USING CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
    IF TG_OP = 'DELETE' THEN
      EXECUTE format($sql$
        DELETE FROM %I.mcp_counts
        WHERE total = 0 AND (account, shard) IN (SELECT ${ACCOUNT}, ${SHARD} FROM changed)
      $sql$, TG_TABLE_SCHEMA);
    END IF;
    RETURN NULL;
  END $$`

/** The counts of sessions, and the triggers that update them. */
export const COUNTS: string = `CREATE TABLE mcp_counts (
    account text NOT NULL,
    shard integer NOT NULL,
    total bigint NOT NULL,
    PRIMARY KEY (account, shard)
  ) WITH (fillfactor = 50);
  ${FUNCTION};
  CREATE TRIGGER mcp_sessions_opened AFTER INSERT ON mcp_sessions
    REFERENCING NEW TABLE AS changed EXECUTE FUNCTION mcp_count_sessions();
  CREATE TRIGGER mcp_sessions_ended AFTER DELETE ON mcp_sessions
    REFERENCING OLD TABLE AS changed EXECUTE FUNCTION mcp_count_sessions();
  CREATE TRIGGER mcp_sessions_truncated AFTER TRUNCATE ON mcp_sessions
    EXECUTE FUNCTION mcp_count_sessions();
  INSERT INTO mcp_counts ${countsOf('mcp_sessions')};`
