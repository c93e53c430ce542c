/**
 * The tables of sessions, for `migrations.ts`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */

// Columns of `mcp_sessions`: `id_blocks` is the number of reserved blocks of ids for requests to the
// client. `sent` is the number of stored messages that belong to no request. `listener` is the process
// with the newest connection for those messages, and `connection` is the number of that connection.
// `delivered` is the position of the last event that was sent on the most recently closed connection.
//
// Columns of `mcp_streams`: the process `owner` runs the call, the process `reader` has the connection of
// the client, `request` is the id of the call as JSON, and `call` is its state, if it is resumable.
//
// `mcp_calls` has the requests without a stream that have been running for a while. `mcp_inbox` has the
// client's answers to requests of the server.
//
// In `mcp_events`, a row whose `message` is NULL means that all earlier events of its stream were deleted.
export const SESSIONS = `CREATE TABLE mcp_sessions (
    id text PRIMARY KEY,
    record text NOT NULL,
    version integer NOT NULL DEFAULT 1,
    account text,
    weight integer NOT NULL,
    used_at timestamptz NOT NULL DEFAULT now(),
    id_blocks integer NOT NULL DEFAULT 0,
    sent integer NOT NULL DEFAULT 0,
    listener text,
    connection integer NOT NULL DEFAULT 0,
    delivered text
  );
  CREATE INDEX mcp_sessions_by_account ON mcp_sessions (account, used_at) INCLUDE (weight);
  CREATE INDEX mcp_sessions_by_use ON mcp_sessions (used_at);
  CREATE TABLE mcp_calls (
    session text NOT NULL,
    request text NOT NULL,
    owner text NOT NULL,
    PRIMARY KEY (session, request)
  );
  CREATE TABLE mcp_streams (
    session text NOT NULL,
    id text NOT NULL,
    owner text NOT NULL,
    reader text NOT NULL,
    request text,
    call text,
    cancelled boolean NOT NULL DEFAULT false,
    PRIMARY KEY (session, id)
  );
  CREATE TABLE mcp_events (
    session text NOT NULL,
    stream text NOT NULL,
    seq bigint NOT NULL,
    message text,
    at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (session, stream, seq)
  );
  CREATE INDEX mcp_events_by_time ON mcp_events USING brin (at);
  CREATE TABLE mcp_inbox (
    session text NOT NULL,
    id integer NOT NULL,
    message text NOT NULL,
    at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (session, id)
  );`

// `turns` are the periods in which the streams of a session carried the messages that belong to no request, as in
// `turns.ts`.
export const TURNS = `ALTER TABLE mcp_sessions
    ADD COLUMN IF NOT EXISTS turns jsonb NOT NULL DEFAULT '[]'`
