/** The capacity model of Workers: what a load takes of objects, rows, requests, CPU and money. */
import {
  inOrder,
  requireLoad,
  SECONDS_PER_HOUR,
  SECONDS_PER_MONTH,
  total,
  type Limit,
  type Load,
} from './load.ts'
import * as prices from './prices.ts'

/**
 * What one event takes. Rows and requests are exact counts, and `bench -- capacity` prints them again
 * beside what it measures; CPU times are those of workerd on two shared cores, by the same benchmark.
 */
export const WORKERS = {
  /** `initialize`: the session and its alarm. */
  rowsOfInitialize: 2,
  /** `resources/subscribe`: the session's record. */
  rowsOfSubscribe: 1,
  /** The first GET of a session: its record. */
  rowsOfFirstStream: 1,
  /** The hub, for the first stream of a session. */
  hubRowsOfTurn: 1,
  /** The hub, for each resource that a session subscribes to: a row and one of an index. */
  hubRowsOfWatch: 2,
  /** The hub, for each of them when the session ends; its turn is a row as well. */
  hubRowsOfUnwatch: 1,
  /** A change that concerns a session is stored in its hub, and deleted later. */
  hubRowsOfChange: 2,
  /** A change, in each hub. */
  hubRowsReadOfChange: 10,
  /** Deleting changes reads at most 150,000 rows for each thousand of them: from `hub-log.ts`. */
  hubRowsReadOfTrim: 150,
  /** A session and its stream that are opened, in both objects. */
  rowsReadOfOpening: 8,
  /** A call whose object was out of memory. */
  rowsReadOfCall: 4,
  /** The use of a session is stored at most this often. */
  touchSeconds: 60,
  /** The alarm of a session with a stream: an hour, and the interval of its uses. */
  alarmSeconds: 3_660,

  /** A modern call, in the isolate. */
  callUs: 280,
  /** What the object of a session adds to a call while it is in memory. */
  objectCallUs: 150,
  /** What it adds when it has to be created first. */
  coldObjectUs: 4_000,
  /** Objects leave memory after this time without a request. */
  evictSeconds: 10,
  /** A keep-alive comment, with its client in the same process, and how often it is sent. */
  keepAliveUs: 150,
  keepAliveSeconds: 15,
  /** A request to a hub with a change, however many clients the hub has. */
  hubChangeUs: 200,
  /** Sending a change to one client. */
  hubSendUs: 40,
  /** The time for which a request keeps an object in memory: an assumption. */
  objectSeconds: 0.005,

  /** Streams of a hub: in practice, and the platform's limit on sockets. */
  streamsPerHub: 10_000,
  maxSockets: 32_768,
  /** The platform's soft limit on the requests of one object per second. */
  objectRequestsPerSecond: 1_000,
  /** The part of its thread that a hub may use. */
  hubCpuShare: 0.5,
  /** The platform's default limit on the objects that one announcement may reach. */
  subrequests: 10_000,
  /** Memory of a stream on workerd, with its client in the same process, in KB. */
  kbPerStream: 170,
  /** SQLite files begin at this size, in KB. */
  kbPerSession: 12,
} as const

/** What a load takes on Workers. Rates are per second. */
export interface WorkersPlan {
  readonly hubs: number
  readonly sessionObjects: number
  readonly streamsPerHub: number
  readonly workerRequests: Readonly<Record<string, number>>
  readonly objectRequests: Readonly<Record<string, number>>
  readonly rowsWritten: Readonly<Record<string, number>>
  readonly rowsRead: Readonly<Record<string, number>>
  /** CPU of all isolates, in seconds per second. */
  readonly isolateCpu: number
  /** The part of its one thread that each hub uses. */
  readonly hubCpu: number
  /** Dollars a month. */
  readonly money: Readonly<Record<string, number>>
  /** The first one breaks first. */
  readonly limits: readonly Limit[]
}

/** The CPU time of one change in each hub, in microseconds. */
export function hubChangeUs(load: Load, hubs: number): number {
  // An index of topics finds those whom the change concerns
  return WORKERS.hubChangeUs + (load.receivers / hubs) * WORKERS.hubSendUs
}

/** The number of hubs that the load needs. */
export function hubsFor(load: Load): number {
  const byStreams = Math.ceil(load.clients / WORKERS.streamsPerHub)
  // Each hub spends a fixed time on each change; the time for its receivers is divided among the hubs
  const freeUs = WORKERS.hubCpuShare * 1e6 - load.changes * WORKERS.hubChangeUs
  const dividedUs = load.changes * (hubChangeUs(load, 1) - WORKERS.hubChangeUs)
  // If even empty hubs are too slow, more of them do not help
  const byCpu = freeUs > 0 ? Math.ceil(dividedUs / freeUs) : 1
  return Math.max(1, byStreams, byCpu)
}

/** How many hubs have at least one of the sessions that a change concerns, on average. */
export function hubsConcerned(load: Load, hubs: number): number {
  return hubs * (1 - (1 - 1 / hubs) ** (load.receivers * load.sessions))
}

/** What is written and requested while clients open their streams. */
export function opening({ watched }: Pick<Load, 'watched'>) {
  return {
    /** To the session's object: `initialize`, `initialized`, each subscription, GET. */
    sessionRequests: 3 + watched,
    /** To the hub: the stream, and the subscriptions at once. */
    sessionHubRequests: 1 + Math.min(1, watched),
    sessionRows:
      WORKERS.rowsOfInitialize + watched * WORKERS.rowsOfSubscribe + WORKERS.rowsOfFirstStream,
    sessionHubRows: WORKERS.hubRowsOfTurn + watched * WORKERS.hubRowsOfWatch,
    endedHubRows: WORKERS.hubRowsOfTurn + watched * WORKERS.hubRowsOfUnwatch,
  }
}

/**
 * Plans a deployment on Workers.
 *
 * @throws {RangeError} If the load makes no sense.
 */
export function planWorkers(given: Load): WorkersPlan {
  const load = requireLoad(given)
  const hubs = load.shards || hubsFor(load)
  const sessions = load.clients * load.sessions
  const sessionCalls = load.calls * load.sessions
  const opened = sessions / (load.sessionHours * SECONDS_PER_HOUR)
  const reconnected = 1 / (load.streamHours * SECONDS_PER_HOUR)
  const alarms = sessions / WORKERS.alarmSeconds
  const first = opening(load)
  const concerned = hubsConcerned(load, hubs)

  const workerRequests = {
    calls: load.calls,
    changes: load.changes,
    sessions: opened * (first.sessionRequests + 1),
    streams: load.clients * reconnected,
  }
  const objectRequests = {
    calls: sessionCalls,
    changes: load.changes * hubs,
    // Their end is a request to each object
    sessions: opened * (first.sessionRequests + first.sessionHubRequests + 2),
    // After the object left memory, it sends its subscriptions to the hub again
    streams: reconnected * (load.clients + sessions * first.sessionHubRequests),
    alarms: alarms * 2,
  }
  const rowsWritten = {
    // The use of a session
    calls: Math.min(sessionCalls, sessions / WORKERS.touchSeconds),
    changes: load.changes * concerned * WORKERS.hubRowsOfChange,
    // What the hub stored is deleted in the end
    sessions: opened * (first.sessionRows + first.sessionHubRows + first.endedHubRows),
    alarms,
  }
  const rowsRead = {
    // Of objects that were out of memory
    calls: WORKERS.rowsReadOfCall * Math.min(sessionCalls, sessions / WORKERS.evictSeconds),
    changes:
      load.changes * (hubs * WORKERS.hubRowsReadOfChange + concerned * WORKERS.hubRowsReadOfTrim),
    sessions: opened * WORKERS.rowsReadOfOpening,
    streams: sessions * reconnected * WORKERS.rowsReadOfOpening,
  }
  const isolateCpu =
    (load.calls * (WORKERS.callUs + load.handlerMs * 1_000) +
      (load.clients / WORKERS.keepAliveSeconds) * WORKERS.keepAliveUs) /
    1e6
  const hubCpu = (load.changes * hubChangeUs(load, hubs)) / 1e6
  const money = {
    'the plan': prices.PLAN,
    'requests to the Worker': month(prices.WORKER_REQUESTS, total(workerRequests)),
    CPU: month(prices.WORKER_CPU_MS, isolateCpu * 1_000),
    'requests to objects': month(prices.OBJECT_REQUESTS, total(objectRequests)),
    'object duration': month(
      prices.OBJECT_GB_S,
      0.128 *
        ((total(objectRequests) - objectRequests.changes) * WORKERS.objectSeconds + hubs * hubCpu),
    ),
    'rows written': month(prices.ROWS_WRITTEN, total(rowsWritten)),
    'rows read': month(prices.ROWS_READ, total(rowsRead)),
    storage:
      prices.STORED_GB.perGb *
      Math.max(0, (sessions * WORKERS.kbPerSession) / 1e6 - prices.STORED_GB.included),
  }
  const streamsPerHub = load.clients / hubs
  const limits = inOrder([
    {
      name: 'CPU of each hub, in cores',
      needed: hubCpu,
      available: 1,
      setting: 'fewer changes; `hubShards` helps only if one change concerns many clients',
    },
    {
      name: 'requests to each hub per second (soft limit)',
      needed: load.changes + (total(objectRequests) - objectRequests.changes - sessionCalls) / hubs,
      available: WORKERS.objectRequestsPerSecond,
      setting: 'fewer calls of `worker.notify`: each reaches every hub',
    },
    {
      name: 'streams of each hub',
      needed: streamsPerHub,
      available: WORKERS.maxSockets,
      setting: '`hubShards`',
    },
    {
      name: 'objects that one change is sent to',
      needed: hubs,
      available: WORKERS.subrequests,
      setting: '`limits.subrequests` in the configuration of the Worker',
    },
    {
      name: 'requests to each session per second (soft limit)',
      needed: sessions > 0 ? sessionCalls / sessions : 0,
      available: WORKERS.objectRequestsPerSecond,
      setting: 'clients of 2026-07-28, whose calls need no object',
    },
  ])
  return {
    hubs,
    sessionObjects: sessions,
    streamsPerHub,
    workerRequests,
    objectRequests,
    rowsWritten,
    rowsRead,
    isolateCpu,
    hubCpu,
    money,
    limits,
  }
}

function month(price: Parameters<typeof prices.priceOf>[0], perSecond: number): number {
  return prices.priceOf(price, perSecond * SECONDS_PER_MONTH)
}
