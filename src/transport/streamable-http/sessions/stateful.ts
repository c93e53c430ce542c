/**
 * Sessions whose records and events are stored. Handlers without sessions do not load this module.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import { andThen } from '../../../patterns/awaitable.ts'
import { requireKnown, type OptionNames } from '../../../patterns/known-options.ts'
import { ProtocolError } from '../../../protocol/errors.ts'
import { INVALID_PARAMS } from '../../../protocol/error-codes.ts'
import type { JsonRpcNotification } from '../../../protocol/types.ts'
import { accountOf } from '../../../patterns/account.ts'
import { announceTo, topicsOfChange } from '../../../server/features/announce.ts'
import type { Unsubscribe } from '../../../server/notifier.ts'
import type { ResumableCallsFactory } from '../../../session/resumable-calls.ts'
import type { SessionRecord } from '../../../session/session.ts'
import { SessionPool, type SessionLimits } from '../../../session/pool.ts'
import { createMemorySessionStore, type SessionStore } from '../../../session/store.ts'
import { sessionNotFound } from '../../http/http-error.ts'
import type { HttpEndpoint } from '../incoming.ts'
import {
  answerInitialize,
  requireRevision,
  requireSessionId,
  type SessionProvider,
} from './manager.ts'
import { StatefulSession } from './stateful-session.ts'

/** Options of {@link statefulSessions}. */
export interface StatefulSessionOptions extends SessionLimits {
  /**
   * Where sessions are stored. With a store in memory, all requests of a session must reach the
   * same process.
   *
   * @default createMemorySessionStore()
   */
  store?: SessionStore
  /**
   * Resumes calls that were running when their process ended. Pass `resumableCalls`, and a `store` that
   * outlives the process. By default, clients receive an error for such calls.
   */
  calls?: ResumableCallsFactory
}

/** Whether the server can send messages outside of responses. */
const CAN_PUSH = true

/** The names of the options. The values have no meaning. */
const OPTION_NAMES: OptionNames<StatefulSessionOptions> = {
  store: 1,
  calls: 1,
  idleMs: 1,
  maxSessions: 1,
  maxSessionsPerCaller: 1,
}

/**
 * Serves sessions of the revisions up to 2025-11-25 with all features: the server can send requests and
 * notifications to its clients at any time, and clients can resume their streams. Pass the result as the
 * option `sessions` of `createHandler`.
 *
 * @example
 * ```ts
 * import { createHandler, createServer, statefulSessions } from 'edgewise/server'
 *
 * const server = createServer({ name: 'travel', version: '1.0.0' })
 * export const handle = createHandler(server, { sessions: statefulSessions({ idleMs: 600_000 }) })
 * ```
 *
 * @throws {TypeError} If an option is unknown.
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
export function statefulSessions(options: StatefulSessionOptions = {}): SessionProvider {
  requireKnown('statefulSessions', options, OPTION_NAMES)
  const { store = createMemorySessionStore(), calls, ...limits } = options
  return (endpoint) => {
    const pool: SessionPool<StatefulSession> = new SessionPool(
      store,
      limits,
      endpoint.server,
      (pooled) => new StatefulSession({ endpoint, pool, calls }, pooled),
    )
    const announcing = announceChanges(endpoint, pool)
    return {
      allow: 'GET, POST, DELETE, OPTIONS',
      resolve(incoming) {
        const found = pool.find(requireSessionId(incoming), incoming.caller.principal)
        return andThen(found, (session) => {
          if (!session) throw sessionNotFound()
          requireRevision(incoming, session.revision)
          return session
        })
      },
      open: (incoming, message) =>
        answerInitialize(incoming, message, CAN_PUSH, async (record) => {
          requireStorable(record)
          return (await pool.open(record, accountOf(incoming.caller))).id
        }),
      async close() {
        const unsubscribe = await announcing
        unsubscribe()
        await pool.close()
      },
    }
  }
}

/**
 * Announces changes to all sessions. Returns a function that ends the announcements. If the source of
 * changes fails, the error is reported, and the server continues without announcements.
 */
async function announceChanges(
  { server, hooks }: HttpEndpoint,
  pool: SessionPool<StatefulSession>,
): Promise<Unsubscribe> {
  try {
    const unsubscribe = await (hooks.changeSource ?? server.notify)?.subscribe((change) => {
      pool.each(({ session, streams, revision }) => {
        const send = (message: JsonRpcNotification): void => streams.announce(message)
        const { principal } = session.record
        const facts = { caller: { principal }, revision, http: true }
        // If no client is connected, the message is only stored, which is not reported to the observer
        const observe = streams.connected ? server.observe : undefined
        const announce = observe?.notify(send, facts) ?? send
        announceTo(session, change, announce)
      }, topicsOfChange(change))
    })
    return unsubscribe ?? noop
  } catch (error) {
    server.report(error)
    return noop
  }
}

function noop(): void {}

/**
 * The maximum length of client info and capabilities. With this limit, a session fits into one row of any
 * store.
 */
const MAX_CLIENT_CHARACTERS = 100_000

/**
 * Checks that a new session can be stored.
 *
 * @throws {ProtocolError} `INVALID_PARAMS` if the client's info and capabilities are too long.
 */
export function requireStorable({ clientCapabilities, clientInfo }: SessionRecord): void {
  if (JSON.stringify([clientCapabilities, clientInfo]).length <= MAX_CLIENT_CHARACTERS) return
  const message = `"clientInfo" and "capabilities" have more than ${MAX_CLIENT_CHARACTERS} characters`
  throw new ProtocolError(INVALID_PARAMS, message)
}
