/**
 * Sessions over a Postgres database, for the option `sessions` of a handler.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import { ignore } from '../../patterns/hooks.ts'
import { requireKnown, type OptionNames } from '../../patterns/known-options.ts'
import type { Caller } from '../../server/request/exchange.ts'
import { accountOf } from '../../patterns/account.ts'
import type { SessionLimits } from '../../session/pool.ts'
import type { ResumableCallsFactory } from '../../session/resumable-calls.ts'
import type { HttpEndpoint } from '../../transport/streamable-http/incoming.ts'
import {
  answerInitialize,
  requireRevision,
  requireSessionId,
  type SessionProvider,
} from '../../transport/streamable-http/sessions/manager.ts'
import { requireStorable } from '../../transport/streamable-http/sessions/stateful.ts'
import { sessionNotFound } from '../../transport/http/http-error.ts'
import type { Bus } from '../bus.ts'
import type { ChangeLog } from '../changes.ts'
import type { Database } from '../database.ts'
import { Admission } from './admission.ts'
import { PostgresHttpSession } from './http-session.ts'
import { ProcessSessions } from './process-sessions.ts'

/**
 * The lifetime of sessions, their limits, and what happens to the calls of a process that was killed. The
 * limits apply to all processes together. Sessions that are opened at the same time may exceed them.
 */
export interface PostgresSessionOptions extends SessionLimits {
  /**
   * With `resumableCalls` from `edgewise/server`, another process continues a call whose process was killed.
   * It runs the handler again, with all previous steps and answers. By default, the client receives an
   * error for such a call. All processes need the same value.
   */
  calls?: ResumableCallsFactory
}

/** Whether the server can send messages outside of responses. */
const CAN_PUSH = true

/** The names of the options. The values have no meaning. */
const OPTION_NAMES: OptionNames<PostgresSessionOptions> = {
  calls: 1,
  idleMs: 1,
  maxSessions: 1,
  maxSessionsPerCaller: 1,
}

/** The maximum length of an account. Accounts with the same beginning of this length share their limit. */
const MAX_ACCOUNT_LENGTH = 500

/** The parts of a storage that sessions use. */
export interface SessionStorage {
  readonly database: Database
  readonly bus: Bus
  readonly changes: ChangeLog
  /** Connects the changes of a server with the changes of other processes. */
  readonly connect: (server: HttpEndpoint['server']) => Promise<void>
}

/** Creates the provider of `storage.sessions()`. */
export function postgresSessions(
  { database, bus, changes, connect }: SessionStorage,
  options: PostgresSessionOptions = {},
): SessionProvider {
  requireKnown('The sessions of the Postgres storage', options, OPTION_NAMES)
  const {
    calls,
    idleMs = 3_600_000,
    maxSessions = 10_000,
    maxSessionsPerCaller = Math.ceil(maxSessions / 2),
  } = options
  return (endpoint) => {
    const resumable = calls !== undefined
    const sessions = new ProcessSessions({ database, bus, changes, endpoint, resumable, idleMs })
    const admission = new Admission({
      database,
      maxSessions,
      maxSessionsPerCaller,
      removeWhere: (condition, ...values) => sessions.removeWhere(condition, ...values),
    })
    let ready: Promise<void> | undefined
    /** Makes this process receive the changes of other processes. No request is handled before. */
    const start = (): Promise<void> => {
      return (ready ??= connect(endpoint.server).catch((error: unknown) => {
        ready = undefined
        throw error
      }))
    }
    // Started now, so that changes before the first request are announced. An error is ignored here, because each
    // request starts again and reports the error
    start().catch(ignore)
    return {
      allow: 'GET, POST, DELETE, OPTIONS',
      async resolve(incoming) {
        const id = requireSessionId(incoming)
        await start()
        const row = await sessions.find(id)
        if (!row || row.record.principal !== incoming.caller.principal) throw sessionNotFound()
        const session = new PostgresHttpSession(sessions, row)
        requireRevision(incoming, session.revision)
        return session
      },
      open: (incoming, message) =>
        answerInitialize(incoming, message, CAN_PUSH, async (record) => {
          requireStorable(record)
          await start()
          const id = await admission.open(record, accountKey(incoming.caller))
          sessions.observeOpened(id, record)
          return id
        }),
      close: () => sessions.close(),
    }
  }
}

/** Converts a caller's account to text that Postgres can store and index. */
function accountKey(caller: Caller): string | undefined {
  return JSON.stringify(accountOf(caller))?.slice(0, MAX_ACCOUNT_LENGTH)
}
