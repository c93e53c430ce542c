/**
 * Sessions that are kept: their records, and the logs of their streams, in a store. What only they
 * can do over HTTP comes with them, so that handlers without sessions need not carry it.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import { requireKnown, type OptionNames } from '../../../patterns/known-options.ts'
import { INVALID_PARAMS, ProtocolError } from '../../../protocol/errors.ts'
import { HEADER_SESSION_ID } from '../../../protocol/headers.ts'
import { accountOf } from '../../../session/account.ts'
import { announceTo } from '../../../server/features/announce.ts'
import type { Caller } from '../../../server/request/exchange.ts'
import type { Unsubscribe } from '../../../server/notifier.ts'
import type { CallStore } from '../../../session/resumable-calls.ts'
import type { SessionRecord } from '../../../session/session.ts'
import { SessionPool, type SessionLimits } from '../../../session/pool.ts'
import { createMemorySessionStore, type SessionStore } from '../../../session/store.ts'
import { finder } from './find-session.ts'
import type { HostSessions } from './manager.ts'
import { KeptSession, type SessionsHost } from './stateful-session.ts'
import type { HandlerSessions } from '../options.ts'
import { readHeader } from '../../http/request-body.ts'
import { answerInSession } from '../session-methods.ts'

/** Where sessions are kept, for how long, and how many. */
export interface StatefulSessionOptions extends SessionLimits {
  /** In memory by default: then every request of a session must reach the same process. */
  store?: SessionStore
  /**
   * `resumableCalls` lets calls go on after their host was replaced, if the store outlives it. By
   * default their clients get an error.
   */
  calls?: CallStore
}

const OPTIONS: OptionNames<StatefulSessionOptions> = {
  ...{ store: 1, calls: 1, idleMs: 1, maxSessions: 1, maxSessionsPerCaller: 1 },
}

/**
 * Lets `createHandler` serve the revisions up to 2025-11-25 whole, as its option `sessions`: the
 * server can ask and tell its clients whatever it wants, and what they missed can be resumed.
 *
 * @throws {TypeError} when an option is unknown.
 */
export function statefulSessions(options: StatefulSessionOptions = {}): HandlerSessions {
  requireKnown('statefulSessions', options, OPTIONS)
  const { store = createMemorySessionStore(), calls, ...limits } = options
  return {
    start(server, options) {
      const sessions = new SessionPool(store, limits, server, calls)
      return new HttpSessions({ server, options, sessions })
    },
  }
}

/** The sessions of one handler, which are told of changes until they are closed. */
class HttpSessions implements HostSessions {
  readonly reach = true
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
      const subscribed = await (options.changes ?? server.notify)?.subscribe((change) => {
        sessions.each(({ session, streams }) => {
          announceTo(session, change, (message) => streams.announce(message))
        })
      })
      return subscribed ?? nothing
    } catch (error) {
      server.report(error)
      return nothing
    }
  }

  answer(request: Request, caller: Caller): Promise<Response> {
    const { server, options } = this.#host
    return answerInSession({ server, options, sessions: this }, request, caller)
  }

  find: HostSessions['find'] = finder(async (id, principal) => {
    const live = await this.#find(id, principal)
    return { live, record: live?.record }
  })

  async #find(id: string, principal: string | undefined): Promise<KeptSession | undefined> {
    const live = await this.#host.sessions.find(id, principal)
    return live && new KeptSession(this.#host, live)
  }

  open(record: SessionRecord, caller: Caller): Promise<string> {
    requireKeepable(record)
    return this.#host.sessions.open(record, accountOf(caller)).then(({ id }) => id)
  }

  async spoil(
    { headers }: Request,
    { principal }: Caller,
    frame: unknown,
    error: Error,
  ): Promise<void> {
    const id = readHeader(headers, HEADER_SESSION_ID)
    const live = id === null ? undefined : await this.#find(id, principal)
    live?.spoil(frame, error)
  }

  async close(): Promise<void> {
    const unsubscribe = await this.#unsubscribe
    unsubscribe()
    await this.#host.sessions.close()
  }
}

function nothing(): void {}

/** The most that a client may say of itself, so that a session fits into one row of any store. */
const MAX_CLIENT_CHARACTERS = 100_000

function requireKeepable({ clientCapabilities, clientInfo }: SessionRecord): void {
  if (JSON.stringify([clientCapabilities, clientInfo]).length <= MAX_CLIENT_CHARACTERS) return
  const message = 'The client says too much of itself and its capabilities'
  throw new ProtocolError(INVALID_PARAMS, message)
}
