// What commit 57fd68c stored and handed out: later versions must read it. Members that were renamed since,
// before the first release, have their new names.
import type { SqlValue, Sql } from '../../../../src/sqlite/sql.ts'
import type { SessionRecord } from '../../../../src/presets/server.ts'

/** The secret that the session id and the request state are sealed with. */
export const SECRET = 'a secret of the previous version'

/** A session in SQLite: one stream for messages of no request, and one of a call that waits. */

export const SESSION_ID = 'c92aee63-ba81-4c33-8288-b5b82ebe1827'
/** The ids of the first event of the stream of no request, and of the question on the call's. */
export const STANDALONE_EVENT = '709b932a_0'
export const QUESTION_EVENT = 'c037c180_3'

export const SESSION_TABLES: readonly Table[] = [
  { name: 'mcp_schema', schema: 'CREATE VIEW mcp_schema AS SELECT 1 AS version', rows: [] },
  {
    name: 'mcp_sessions',
    schema:
      'CREATE TABLE mcp_sessions ( id TEXT PRIMARY KEY, record TEXT NOT NULL, used_at INTEGER NOT NULL ) WITHOUT ROWID',
    rows: [
      {
        id: 'c92aee63-ba81-4c33-8288-b5b82ebe1827',
        record:
          '{"revision":"2025-11-25","clientInfo":{"name":"previous","version":"1"},"clientCapabilities":{"elicitation":{}},"initialized":true,"subscriptions":["note://one"],"logLevel":"warning"}',
        used_at: 1795905991709,
      },
    ],
  },
  {
    name: 'mcp_events',
    schema:
      'CREATE TABLE mcp_events ( session TEXT NOT NULL, seq INTEGER NOT NULL, stream TEXT NOT NULL, message TEXT NOT NULL, first INTEGER NOT NULL, more INTEGER NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (session, seq) ) WITHOUT ROWID',
    rows: [
      {
        session: 'c92aee63-ba81-4c33-8288-b5b82ebe1827',
        seq: 1,
        stream: '709b932a',
        message: '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}',
        first: 1,
        more: 0,
        at: 1795905991753,
      },
      {
        session: 'c92aee63-ba81-4c33-8288-b5b82ebe1827',
        seq: 2,
        stream: '709b932a',
        message:
          '{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"note://one"}}',
        first: 0,
        more: 0,
        at: 1795905991761,
      },
      {
        session: 'c92aee63-ba81-4c33-8288-b5b82ebe1827',
        seq: 3,
        stream: 'c037c180',
        message:
          '{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"mode":"form","message":"Book Bergen?","requestedSchema":{"type":"object","properties":{"yes":{"type":"boolean"}},"required":["yes"]}}}',
        first: 1,
        more: 0,
        at: 1795905991778,
      },
    ],
  },
  {
    name: 'mcp_streams',
    schema:
      'CREATE TABLE mcp_streams ( session TEXT NOT NULL, id TEXT NOT NULL, opened_at INTEGER NOT NULL, call TEXT, PRIMARY KEY (session, id) ) WITHOUT ROWID',
    rows: [
      {
        session: 'c92aee63-ba81-4c33-8288-b5b82ebe1827',
        id: '709b932a',
        opened_at: 1795905991729,
        call: null,
      },
      {
        session: 'c92aee63-ba81-4c33-8288-b5b82ebe1827',
        id: 'c037c180',
        opened_at: 1795905991778,
        call: '{"request":{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"book","arguments":{"to":"Bergen"}}},"recording":{"answers":{},"steps":{"reserve":["first run to Bergen"]},"open":{"elicitation/create#1":"msYZ1MjQ6MoXoRUNFeB2H_m7eYEPXO-t574Azkmowx8"}},"unanswered":{"1":"elicitation/create#1"},"answers":{}}',
      },
    ],
  },
]

/** Two tasks in SQLite: one is done, the other waits for an answer. */
export const FINISHED_TASK = 'W_iLHInBFSx9JrZI1Wq_98T0SQCO10Wk'
export const WAITING_TASK = 'myKa1EHE6d7Y_5glu75r_Y8rlwWrDqGh'
export const TASK_TABLES: readonly Table[] = [
  {
    name: 'mcp_task_pieces',
    schema:
      'CREATE TABLE mcp_task_pieces ( task TEXT NOT NULL, n INTEGER NOT NULL, text TEXT NOT NULL, PRIMARY KEY (task, n) ) WITHOUT ROWID',
    rows: [],
  },
  {
    name: 'mcp_tasks',
    schema:
      'CREATE TABLE mcp_tasks ( seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, principal TEXT, version INTEGER NOT NULL, finished INTEGER NOT NULL, expires_at INTEGER NOT NULL, record TEXT NOT NULL )',
    rows: [
      {
        seq: 1,
        id: 'W_iLHInBFSx9JrZI1Wq_98T0SQCO10Wk',
        principal: null,
        version: 3,
        finished: 1,
        expires_at: 4795905991852,
        record:
          '{"taskId":"W_iLHInBFSx9JrZI1Wq_98T0SQCO10Wk","version":3,"status":"completed","createdAt":1795905991852,"lastUpdatedAt":1795905991854,"ttlMs":3000000000000,"pollIntervalMs":20,"call":{"revision":"2026-07-28","params":{"name":"quick","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}}},"client":{"capabilities":{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}},"principal":null},"recording":{"answers":{},"steps":{},"open":{}},"inputs":{},"answers":{},"usedKeys":[],"result":{"content":[{"type":"text","text":"done"}]}}',
      },
      {
        seq: 2,
        id: 'myKa1EHE6d7Y_5glu75r_Y8rlwWrDqGh',
        principal: null,
        version: 4,
        finished: 0,
        expires_at: 4795905991855,
        record:
          '{"taskId":"myKa1EHE6d7Y_5glu75r_Y8rlwWrDqGh","version":4,"status":"input_required","createdAt":1795905991855,"lastUpdatedAt":1795905991857,"ttlMs":3000000000000,"pollIntervalMs":20,"call":{"revision":"2026-07-28","params":{"name":"book","arguments":{"to":"Bergen"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}}},"client":{"capabilities":{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}},"principal":null},"recording":{"answers":{},"steps":{"reserve":["first run to Bergen"]},"open":{"elicitation/create#1":"msYZ1MjQ6MoXoRUNFeB2H_m7eYEPXO-t574Azkmowx8"}},"inputs":{"elicitation/create#1":{"key":"elicitation/create#1","request":{"method":"elicitation/create","params":{"mode":"form","message":"Book Bergen?","requestedSchema":{"type":"object","properties":{"yes":{"type":"boolean"}},"required":["yes"]}}},"digest":"msYZ1MjQ6MoXoRUNFeB2H_m7eYEPXO-t574Azkmowx8"}},"answers":{},"usedKeys":["elicitation/create#1"]}',
      },
    ],
  },
]

/** The session that has a Durable Object for itself, under the key `mcp_session`. */
export const OBJECT_SESSION: {
  version: number
  id: string
  record: SessionRecord
  usedAt: number
} = {
  version: 1,
  id: '0123456789abcdef0123456789abcdef',
  record: {
    revision: '2025-11-25',
    clientInfo: { name: 'previous', version: '1' },
    clientCapabilities: { elicitation: {} },
    initialized: false,
    subscriptions: ['note://one'],
    listens: true,
    elicitations: ['url-1'],
    logLevel: 'warning',
  },
  usedAt: 1795905992158,
}

/** The id of a session that is sealed into it. */
export const SEALED_SESSION_ID =
  'AVmpJkVpHnclYt1eh9oX6-gRcnaWftJ1GvEBmByYkyZ9O6rHx7UkFzKVFDl6Q51azNWHcchaLzqVqj_e1ya9hBjruoUDnzpib60l7efiR1yAWlHxaQk8cCKcZCpY1R3PRljoYV_fptNnslJnAA00yEwWWne1LhNNkFUAC0ieiv4_Z0GTJWbrmt8cBFVsERKIIv3NgkPMugk5DI7dSOJRWOuDwKv1Cay1oMPpV-l5m5syPvHrR9-vPpZgad-AS7MOxv-puoM'

/** The state of a call of the tool `book` whose question was not answered. */
export const REQUEST_STATE =
  'AVmpJkU8CboTAuKYyXTjeXNBs47wZQnLjEnCiD1HDXyI-02hVTDsHIxG9ZkJyxHGo71MeK5NDMpc52jTa8Q5Y06N--CLshRmEmwNCC9OlRTHJzUFkBDaxCDqFRGxItHAfdMBuXBBm3gCX5bFU6YCKj0TEXeAFP8DYlTAVhQ3rT7Aa02tHyJzfF7kRhCci8-wdAAgkYYGeKq_dXyusD1UnF_r6VECmXc_0RPtV7YVuLjH0-f6i2bA4wtA0841AUjgALIaxi_JFisldLs-XdoMNqqhDs9V3E7fTyGkzAOWmn8D7kw9HJqLGP0kKmQrHADkDbd1b49r4BGFuR_porn8wH7zwkvVQGZVB8mlbZ9KOt1dWZi_cG0'

/** A table with its rows. */
export interface Table {
  readonly name: string
  readonly schema: string
  readonly rows: readonly { readonly [column: string]: SqlValue }[]
}

/** Writes tables into an empty database. */
export function writeTables(sql: Sql, tables: readonly Table[]): void {
  for (const { name, schema, rows } of tables) {
    sql.run(schema)
    for (const row of rows) {
      const columns = Object.keys(row)
      const places = columns.map(() => '?').join(', ')
      sql.all(
        `INSERT INTO ${name} (${columns.join(', ')}) VALUES (${places})`,
        ...Object.values(row),
      )
    }
  }
}
