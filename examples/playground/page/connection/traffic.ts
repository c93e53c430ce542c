/**
 * What the HTTP exchanges of a connection show about its calls while they are in progress: whether the server
 * has opened a stream, whether it is alive, and whether it has lost the session.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
 */

/** The HTTP exchange of one JSON-RPC request. Times are in milliseconds, as of `performance.now()`. */
export interface Exchange {
  /** The body of the request. */
  readonly body: string
  readonly sentAt: number
  /** When the headers of the response came. */
  openedAt?: number
  /** Whether the response is a stream. */
  isStream?: boolean
  /** The number of messages that came on the stream. */
  messages: number
  /** The number of comments that came on the stream, which servers send to keep it alive. */
  comments: number
  /** When anything last came on the stream. */
  lastAt?: number
  hasEnded: boolean
}

/** The recent HTTP exchanges of a connection. */
export interface Traffic {
  /** The requests that were sent last, the newest last. */
  readonly exchanges: readonly Exchange[]
  /** How often the server has lost the session. */
  readonly lostSessions: number
  /** How long questions of the server have waited for the user so far, in milliseconds. */
  waitedMs(): number
  /** Whether a question waits for the user. */
  isAsking(): boolean
}

/** The maximum number of exchanges that are known. */
const MAX_EXCHANGES = 20

/** {@link Traffic}, as its owner sees it. */
export interface OwnTraffic extends Traffic {
  lostSessions: number
  /** Adds a request that is sent now. */
  begin(body: string): Exchange
  /** Counts the time until the user has answered a question. */
  countWait<T>(answer: Promise<T>): Promise<T>
}

/** Creates the traffic of a connection. */
export function createTraffic(): OwnTraffic {
  const exchanges: Exchange[] = []
  let openQuestions = 0
  let openSince = 0
  let waitedMs = 0
  return {
    exchanges,
    lostSessions: 0,
    waitedMs: () => waitedMs + (openQuestions > 0 ? performance.now() - openSince : 0),
    isAsking: () => openQuestions > 0,
    async countWait(answer) {
      if (openQuestions++ === 0) openSince = performance.now()
      try {
        return await answer
      } finally {
        if (--openQuestions === 0) waitedMs += performance.now() - openSince
      }
    },
    begin(body) {
      const exchange = {
        body,
        sentAt: performance.now(),
        messages: 0,
        comments: 0,
        hasEnded: false,
      }
      exchanges.push(exchange)
      if (exchanges.length > MAX_EXCHANGES) exchanges.shift()
      return exchange
    },
  }
}

/** Watches one call. */
export interface CallWatch {
  /** The exchange of the call; `undefined` until the request is sent. */
  exchange(): Exchange | undefined
  /** Whether the server lost the session since the call began. */
  hasLostSession(): boolean
  /** How long questions of the server have waited for the user since the call began, in milliseconds. */
  waitedMs(): number
  /** Whether a question of the server waits for the user. */
  isAsking(): boolean
}

/** Watches the call that begins now, for an entry with this key. */
export function watchCall(traffic: Traffic | undefined, key: string): CallWatch {
  const startedAt = performance.now()
  const before = traffic?.lostSessions ?? 0
  const waited = (): number => traffic?.waitedMs() ?? 0
  const waitedBefore = waited()
  const name = JSON.stringify(key)
  return {
    // After a sign-in or a lost session, the request is sent again
    exchange: () =>
      traffic?.exchanges.findLast(({ sentAt, body }) => sentAt >= startedAt && body.includes(name)),
    hasLostSession: () => (traffic?.lostSessions ?? 0) > before,
    waitedMs: () => waited() - waitedBefore,
    isAsking: () => traffic?.isAsking() === true,
  }
}
