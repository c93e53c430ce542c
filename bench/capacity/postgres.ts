/** The capacity model of processes that share a Postgres database. */
import { inOrder, requireLoad, SECONDS_PER_HOUR, total, type Limit, type Load } from './load.ts'

/**
 * What one event takes. Rows, queries and notifications are exact counts, and `bench -- capacity`
 * prints them again beside what it measures; times and memory are those of Node 20 on two shared
 * cores, by the same benchmark.
 */
export const POSTGRES = {
  /** `initialize`, `initialized` and GET: each but the first reads the session, then writes it. */
  queriesOfOpening: 6,
  /** `resources/subscribe`: one to read the session, one to write it. */
  queriesOfSubscribe: 2,
  /** The rows that count sessions: 16 for all, and one for the caller. */
  countsOfOpening: 17,
  /** Rows of a session that is opened with its first stream; two of them count sessions. */
  rowsOfOpening: 5,
  /** Rows of a session that ends; two of them count sessions. */
  rowsOfEnd: 3,
  rowsOfSubscribe: 1,
  /** A stream that is closed and opened again. */
  rowsOfStream: 2,
  /** A change is stored, and deleted after an hour. */
  rowsOfChange: 2,
  /** The time of a session's last use is stored at most this often, for as long as it has a stream. */
  touchSeconds: 60,
  /** Each process notes that it is alive. */
  heartbeatSeconds: 5,
  /** The queries of each process that delete what is old, once a minute. */
  upkeepQueries: 5,

  /** Memory of a stream in its process, in KB: of a session, and of a listener of 2026-07-28. */
  kbPerSession: 26,
  kbPerListener: 20,
  /** A session in the database with its index, in KB. */
  kbOfRow: 0.6,

  /** A call at a low rate; at full load it is a tenth (`bench -- node-http`). */
  callUs: 700,
  /** What a session adds to it: the query for its row. */
  sessionCallUs: 450,
  /** A keep-alive comment, and how often it is sent. */
  keepAliveUs: 150,
  keepAliveSeconds: 15,
  /** Storing a change, in the process that announces it. */
  announceUs: 700,
  /** Reading a change, in each process. */
  changeUs: 900,
  /** Finding those whom a change concerns, in each process, however many streams it has. */
  lookupUs: 7,
  /** Changes that come faster are stored and read in batches: assumed, as it depends on the database. */
  batchesPerSecond: 200,
  /** Sending a change to one client. */
  sendUs: 100,

  /** The part of its thread that a process may use. */
  cpuShare: 0.5,
  /** How long a query takes, in milliseconds, over a network nearby. */
  queryMs: 1,
  /** Transactions with a notification are committed one after another: assumed for a local SSD. */
  commitMs: 1,
  /** Row versions per second that one database with common hardware writes and cleans up: assumed. */
  rowsPerSecond: 20_000,
  /** Defaults: of Postgres, and of the storage. */
  maxConnections: 100,
  maxSessions: 10_000,
} as const

/** What a load takes of processes and their database. Rates are per second. */
export interface PostgresPlan {
  readonly processes: number
  readonly streamsPerProcess: number
  readonly memoryMb: number
  readonly connections: number
  readonly queries: Readonly<Record<string, number>>
  readonly rowsWritten: Readonly<Record<string, number>>
  /** Rows that queries read through an index or by a scan. */
  readonly rowsRead: Readonly<Record<string, number>>
  /** Notifications that are sent, and how many arrive in all processes together. */
  readonly notifications: Readonly<Record<string, number>>
  readonly notificationsReceived: number
  /** CPU of all processes, in seconds per second. */
  readonly cpu: Readonly<Record<string, number>>
  /** The size of the sessions in the database, in MB. */
  readonly databaseMb: number
  /** The first one breaks first. */
  readonly limits: readonly Limit[]
}

/** The memory of all streams, in MB. */
export function streamMemoryMb({ clients, sessions }: Pick<Load, 'clients' | 'sessions'>): number {
  const each = sessions * POSTGRES.kbPerSession + (1 - sessions) * POSTGRES.kbPerListener
  return (clients * each) / 1_000
}

/** How often changes are stored, and read by each process. */
function batchesOf({ changes }: Pick<Load, 'changes'>): number {
  return Math.min(changes, POSTGRES.batchesPerSecond)
}

/** CPU of all processes, in seconds per second. */
export function cpuOf(load: Load, processes: number): Record<string, number> {
  const us = {
    calls:
      load.calls * (POSTGRES.callUs + load.sessions * POSTGRES.sessionCallUs) +
      load.calls * load.handlerMs * 1_000,
    'keep-alive comments': (load.clients / POSTGRES.keepAliveSeconds) * POSTGRES.keepAliveUs,
    changes:
      batchesOf(load) * (POSTGRES.announceUs + processes * POSTGRES.changeUs) +
      load.changes * (processes * POSTGRES.lookupUs + load.receivers * POSTGRES.sendUs),
  }
  return Object.fromEntries(Object.entries(us).map(([name, value]) => [name, value / 1e6]))
}

/** The number of processes that the load needs. */
export function processesFor(load: Load): number {
  const byMemory = Math.ceil(streamMemoryMb(load) / load.memory)
  const divided = total(cpuOf(load, 0))
  // Each process reads each change, which takes 0.18 cores at most, and looks up whom it concerns
  const own = batchesOf(load) * POSTGRES.changeUs + load.changes * POSTGRES.lookupUs
  const free = POSTGRES.cpuShare - own / 1e6
  // If even processes without clients are too slow, more of them do not help
  return Math.max(1, byMemory, free > 0 ? Math.ceil(divided / free) : 1)
}

/** The queries, rows and notifications of a session that is opened with a stream. */
export function openingSession({ watched }: Pick<Load, 'watched'>) {
  return {
    // One more in the process with the stream, which is notified of it
    queries: POSTGRES.queriesOfOpening + watched * POSTGRES.queriesOfSubscribe + 1,
    rows: POSTGRES.rowsOfOpening + watched * POSTGRES.rowsOfSubscribe,
    notifications: 1,
  }
}

/**
 * Plans a deployment of processes with a database.
 *
 * @throws {RangeError} If the load makes no sense.
 */
export function planPostgres(given: Load): PostgresPlan {
  const load = requireLoad(given)
  const processes = load.processes || processesFor(load)
  const sessions = load.clients * load.sessions
  const sessionCalls = load.calls * load.sessions
  const opened = sessions / (load.sessionHours * SECONDS_PER_HOUR)
  const reconnected = sessions / (load.streamHours * SECONDS_PER_HOUR)
  const heartbeats = processes / POSTGRES.heartbeatSeconds
  const first = openingSession(load)

  const queries = {
    calls: sessionCalls,
    changes: batchesOf(load) * (1 + processes),
    sessions: opened * (first.queries + 1),
    streams: reconnected * 4,
    upkeep: heartbeats + (processes * POSTGRES.upkeepQueries) / 60,
  }
  const rowsWritten = {
    'last uses': sessions / POSTGRES.touchSeconds,
    changes: load.changes * POSTGRES.rowsOfChange,
    sessions: opened * (first.rows + POSTGRES.rowsOfEnd),
    streams: reconnected * POSTGRES.rowsOfStream,
    heartbeats,
  }
  const rowsRead = {
    calls: sessionCalls,
    'last uses': sessions / POSTGRES.touchSeconds,
    changes: load.changes * processes,
    // `initialize` reads the counts of all sessions and of the caller's
    sessions: opened * (POSTGRES.countsOfOpening + first.queries),
  }
  const notifications = {
    changes: batchesOf(load),
    sessions: opened * (first.notifications + 1),
    streams: reconnected * 2,
    // To the process itself
    heartbeats,
  }
  const cpu = cpuOf(load, processes)
  const connections = processes * (load.pool + 1)
  const limits = inOrder([
    {
      name: 'sessions',
      needed: sessions,
      available: POSTGRES.maxSessions,
      setting: '`maxSessions` of `storage.sessions`',
    },
    {
      name: 'connections to the database',
      needed: connections,
      available: POSTGRES.maxConnections,
      setting: '`max_connections` of Postgres, `max` of the client, or a pooler in session mode',
    },
    {
      name: 'CPU of each process, in cores',
      needed: total(cpu) / processes,
      available: 1,
      setting: 'more processes; fewer changes, as every process reads each',
    },
    {
      name: 'rows written per second (assumed)',
      needed: total(rowsWritten),
      available: POSTGRES.rowsPerSecond,
      setting: 'a faster database; clients of 2026-07-28, which have no session',
    },
    {
      name: 'commits with a notification per second (assumed)',
      needed: total(notifications),
      available: 1_000 / POSTGRES.commitMs,
      setting: '`synchronous_commit` of Postgres, and streams that stay open for longer',
    },
    {
      name: 'connections in use in each process',
      needed: (total(queries) / processes) * (POSTGRES.queryMs / 1_000),
      available: load.pool,
      setting: '`max` of the client',
    },
    {
      name: 'memory of the streams of each process, in MB',
      needed: streamMemoryMb(load) / processes,
      available: load.memory,
      setting: 'more processes, or `--max-old-space-size` of Node',
    },
  ])
  return {
    processes,
    streamsPerProcess: load.clients / processes,
    memoryMb: streamMemoryMb(load),
    connections,
    queries,
    rowsWritten,
    rowsRead,
    notifications,
    notificationsReceived: (total(notifications) - heartbeats) * processes + heartbeats,
    cpu,
    databaseMb: (sessions * POSTGRES.kbOfRow) / 1_000,
    limits,
  }
}
