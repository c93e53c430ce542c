/**
 * Sessions that are kept: their records, and the logs of their streams, in a store. What only they
 * can do over HTTP comes with them, so that handlers without sessions need not carry it.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import { announceTo } from '../../server/announce.ts'
import type { ServerDefinition } from '../../server/definition.ts'
import type { Unsubscribe } from '../../server/notifier.ts'
import type { CallKeeper } from '../../session/kept-calls.ts'
import type { SessionRecord } from '../../session/session.ts'
import { Sessions, type SessionLimits } from '../../session/sessions.ts'
import { createMemorySessionStore, type SessionStore } from '../../session/store.ts'
import { KeptSession, type SessionsHost } from './kept-session.ts'

/** Opens the sessions of one handler. */
export interface KeptSessions {
  /** Called by `createHandler`. */
  start(server: ServerDefinition, options: SessionsHost['options']): HttpSessions
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
  return {
    start(server, options) {
      const sessions = new Sessions(store, limits, server, calls?.restore)
      return new HttpSessions({ server, options, sessions, calls })
    },
  }
}

/** The sessions of one handler, which are told of changes until they are closed. */
export class HttpSessions {
  readonly #host: SessionsHost
  readonly #unsubscribe: Promise<Unsubscribe>

  constructor(host: SessionsHost) {
    this.#host = host
    this.#unsubscribe = this.#subscribe()
  }

  /** Tells every session of changes; where they cannot be heard of, sessions do all the rest. */
  async #subscribe(): Promise<Unsubscribe> {
    const { server, options, sessions } = this.#host
    try {
      return await (options.changes ?? server.notify).subscribe((change) => {
        sessions.each(({ session, streams }) => {
          announceTo(session, change, (message) => streams.announce(message))
        })
      })
    } catch (error) {
      server.report(error)
      return () => {}
    }
  }

  /**
   * Opens a session; gives its id.
   *
   * @throws {ProtocolError} when it cannot be kept.
   */
  async open(record: SessionRecord): Promise<string> {
    return (await this.#host.sessions.open(record)).id
  }

  /**
   * The session of that id, unless it ended or belongs to someone else.
   *
   * @throws {ProtocolError} when the store cannot tell.
   */
  async find(id: string, principal: string | undefined): Promise<KeptSession | undefined> {
    const live = await this.#host.sessions.find(id, principal)
    return live && new KeptSession(this.#host, live)
  }

  /** Ends every session. */
  async close(): Promise<void> {
    const unsubscribe = await this.#unsubscribe
    unsubscribe()
    await this.#host.sessions.close()
  }
}
