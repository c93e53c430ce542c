/**
 * The tables of events.
 *
 * @see https://www.postgresql.org/docs/current/ddl-basics.html
 */

// `mcp_event_types` has the head of the log of each type: the position of its last event. A transaction that
// appends events, or that depends on the head, locks the row of the type, so that positions are committed in
// order.
//
// `due_at`, `expires_at` and `wake_at` are times of the database's clock, in milliseconds. From `wake_at` on,
// `EventStorage.take` returns a subscription, because its events are due or because it has expired.
export const EVENTS = `CREATE TABLE mcp_event_types (
    name text PRIMARY KEY,
    head bigint NOT NULL,
    trimmed_to bigint NOT NULL
  );
  CREATE TABLE mcp_event_log (
    name text NOT NULL,
    position bigint NOT NULL,
    event_id text NOT NULL,
    accepted_at bigint NOT NULL,
    event text NOT NULL,
    PRIMARY KEY (name, position),
    UNIQUE (name, event_id)
  );
  CREATE TABLE mcp_event_secret (
    id integer PRIMARY KEY CHECK (id = 1),
    secret text NOT NULL
  );
  CREATE TABLE mcp_event_subscriptions (
    id text PRIMARY KEY,
    name text NOT NULL,
    principal text NOT NULL,
    url text NOT NULL,
    version integer NOT NULL,
    active boolean NOT NULL,
    position bigint,
    due_at float8,
    expires_at float8,
    wake_at float8 GENERATED ALWAYS AS
      (least(CASE WHEN active THEN due_at END, expires_at)) STORED,
    record text NOT NULL
  );
  CREATE INDEX mcp_event_subscriptions_by_name ON mcp_event_subscriptions (name) WHERE active;
  CREATE INDEX mcp_event_subscriptions_by_principal ON mcp_event_subscriptions (principal);
  CREATE INDEX mcp_event_subscriptions_by_wake ON mcp_event_subscriptions (wake_at)
    WHERE wake_at IS NOT NULL;
  CREATE TABLE mcp_event_attempts (
    subscription text NOT NULL,
    n bigint GENERATED ALWAYS AS IDENTITY,
    attempt text NOT NULL,
    PRIMARY KEY (subscription, n)
  );
  CREATE TABLE mcp_event_verified (
    principal text NOT NULL,
    url text NOT NULL,
    until bigint NOT NULL,
    PRIMARY KEY (principal, url)
  );`
