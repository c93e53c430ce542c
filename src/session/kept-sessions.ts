/**
 * Sessions that are kept: their records, and the logs of their streams, in a store.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import type { CallKeeper } from './kept-calls.ts'
import { Sessions, type SessionLimits, type SessionObserver } from './sessions.ts'
import { createMemorySessionStore, type SessionStore } from './store.ts'

/** Opens the sessions of one handler. */
export interface KeptSessions {
  start(observer: SessionObserver): Sessions
  readonly calls: CallKeeper | undefined
}

/** Where sessions are kept, for how long, and how many. */
export interface KeptSessionOptions extends SessionLimits {
  /** In memory by default: then every request of a session must reach the same process. */
  store?: SessionStore
  /**
   * Lets calls of a session go on after their host was replaced: `keepCalls`, where the store keeps
   * streams; not by default.
   */
  calls?: CallKeeper
}

/**
 * Lets `createHandler` serve the revisions up to 2025-11-25 whole, as its option `sessions`: the
 * server can ask and tell its clients whatever it wants, and what they missed can be resumed.
 */
export function keptSessions({
  store = createMemorySessionStore(),
  calls,
  ...limits
}: KeptSessionOptions = {}): KeptSessions {
  return { calls, start: (observer) => new Sessions(store, limits, observer, calls?.restore) }
}
