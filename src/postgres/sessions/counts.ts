/**
 * How many sessions there are, in total and for each account. Triggers count them, so that opening a
 * session takes no longer when there are many. A session counts as its `weight`, see `session/quota.ts`.
 * `migrations.ts` runs the script.
 *
 * @see https://www.postgresql.org/docs/current/plpgsql-trigger.html
 */

/** The account of the rows that count all sessions. No caller has it, because their accounts are JSON. */
export const ALL_ACCOUNTS = 'all'

/** The account of sessions without one. */
export const NO_ACCOUNT = 'null'

/**
 * The total is split over this many rows, so that processes rarely wait for the same one. They have the
 * shards from 1 on.
 */
const SHARDS = 16

/** The shard of the row that counts the sessions of one account. */
export const ACCOUNT_SHARD = 0

// The name of the schema is not part of the function, because it may change. Rows are locked in the order of
// their keys, so that no two processes wait for each other.
const FUNCTION = `CREATE FUNCTION mcp_count_sessions() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_OP = 'TRUNCATE' THEN
      EXECUTE format('DELETE FROM %I.mcp_counts', TG_TABLE_SCHEMA);
      RETURN NULL;
    END IF;
    EXECUTE format('
      INSERT INTO %1$I.mcp_counts AS c (account, shard, total)
      SELECT * FROM (
        SELECT coalesce(account, ''${NO_ACCOUNT}''), 0, sum(weight) * $1 FROM changed GROUP BY account
        UNION ALL
        SELECT ''${ALL_ACCOUNTS}'', 1 + mod(pg_backend_pid(), ${SHARDS}), sum(weight) * $1
        FROM changed HAVING count(*) > 0
      ) AS counted (account, shard, total) ORDER BY shard, account
      ON CONFLICT (account, shard) DO UPDATE SET total = c.total + excluded.total
    ', TG_TABLE_SCHEMA) USING CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
    IF TG_OP = 'DELETE' THEN
      EXECUTE format('
        DELETE FROM %I.mcp_counts
        WHERE shard = 0 AND total = 0 AND account IN (SELECT coalesce(account, ''${NO_ACCOUNT}'') FROM changed)
      ', TG_TABLE_SCHEMA);
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
  INSERT INTO mcp_counts
    SELECT coalesce(account, '${NO_ACCOUNT}'), 0, sum(weight) FROM mcp_sessions GROUP BY account;
  INSERT INTO mcp_counts
    SELECT '${ALL_ACCOUNTS}', 1, sum(weight) FROM mcp_sessions HAVING count(*) > 0;`
