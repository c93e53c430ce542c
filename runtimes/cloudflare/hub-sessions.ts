/**
 * The streams in a hub that sessions open with GET. Decides which stream of a session carries its changes,
 * and which changes a reconnecting client missed.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
import { boundedCache } from '#internal/patterns'
import type { ServerChange } from '#internal/http'
import type { HubLog, LoggedChange } from './hub-log.ts'
import type { SessionStreamRequest } from './subscription-filter.ts'
import { sendEvent } from './stream-socket.ts'

/** The tag that distinguishes these streams from the hub's other sockets. */
const TAG = 'session'
/**
 * How many streams one session may have open, so that sockets remain for other sessions. A further
 * stream ends the oldest one.
 */
const MAX_STREAMS_PER_SESSION = 32
/**
 * How long a client waits before it reconnects if its stream was ended because of this limit, in
 * milliseconds. The new stream of the client ends the oldest stream. Without a delay, the clients of one
 * session would end each other's streams in an endless loop.
 */
const RETRY_MS = 60_000

/** The maximum length of the missed changes that are sent on one connection, in characters. */
const MAX_MISSED_CHARACTERS = 4_000_000

/** The maximum number of recently ended sessions that are remembered. */
const MAX_ENDED = 1000

/** The attachment of a socket, which is stored while the hub hibernates. Do not rename its fields. */
interface Attachment {
  readonly session: string
  /**
   * The id of the stream. Absent if the client cannot resume the stream, as with HTTP+SSE, and until a new
   * stream starts.
   */
  readonly stream: string | undefined
  /** Whether this stream carries the changes of its session. At most one stream of a session does. */
  readonly current: boolean
  /** The request that opened the stream. Present only until the stream starts. */
  readonly wish?: SessionStreamRequest
}

/** A change, with its sequence number if it was stored. */
interface AnnouncedChange {
  readonly seq: number | undefined
  readonly change: ServerChange
}

/** The streams of all sessions of a hub. */
export class HubSessions {
  readonly #ctx: DurableObjectState
  readonly #log: HubLog
  /** The recently ended sessions. Requests that were sent before their end may still arrive. */
  readonly #ended = boundedCache<string, true>(MAX_ENDED)

  constructor(ctx: DurableObjectState, log: HubLog) {
    this.#ctx = ctx
    this.#log = log
  }

  /**
   * Opens the socket of a stream. The stream starts when the Worker confirms it, with {@link begin}.
   *
   * @param account The account that the stream counts for.
   */
  listen(request: SessionStreamRequest, account: string): Response {
    const { session, after } = request
    if (this.#ended.get(session)) return new Response(null, { status: 404 })
    const resumed = parseEventId(after)
    const canResume = resumed && this.#log.canResume(session, resumed.stream, resumed.seq)
    if (after !== undefined && !canResume) return new Response(null, { status: 400 })

    const { 0: client, 1: socket } = new WebSocketPair()
    this.#ctx.acceptWebSocket(socket, [TAG, session, account])
    const stream = resumed?.stream
    const attached: Attachment = { session, stream, current: false, wish: request }
    socket.serializeAttachment(attached)
    return new Response(null, { status: 101, webSocket: client })
  }

  /**
   * Starts a stream. The stream sends the missed changes first. From now on, it carries the changes of its session.
   *
   * A stream does not start in `listen`, because the Worker may have given up before the hub responded. The client
   * has then reconnected on another stream, which must stay the current stream.
   */
  begin(socket: WebSocket): void {
    const { session, wish } = attachmentOf(socket)
    if (!wish) return
    const { plain: cannotResume, primed: beginsWithId, after } = wish
    const resumed = parseEventId(after)
    const stream = cannotResume
      ? undefined
      : this.#makeCurrent(session, resumed?.stream ?? newStreamId())
    socket.serializeAttachment({ session, stream, current: true } satisfies Attachment)
    this.#displaceOthers(socket)
    if (resumed) {
      // Some clients forget the last event id when a new connection sends none
      if (beginsWithId) sendEvent(socket, { id: after, data: '' })
      this.#catchUp(socket, this.#log.missed(session, resumed.stream, resumed.seq))
    } else if (beginsWithId && stream !== undefined) {
      sendEvent(socket, { id: `${stream}_${this.#log.lastSeq}`, data: '' })
    }
  }

  /** Announces a change to the sessions that subscribe to it. */
  announce(change: ServerChange): void {
    if ('elicitationId' in change && this.#log.wasAnnounced(change)) return
    const needsSubscription = 'uri' in change || 'elicitationId' in change
    const watchers = needsSubscription ? this.#log.watchers(change) : undefined
    if (watchers?.length === 0) return
    // The change is stored before it is sent, so that a client that misses it receives it after reconnecting
    const seq = this.#tryToStore(() => this.#log.append(change))
    const sockets =
      watchers?.flatMap((session) => this.#openSockets(session)) ?? this.#openSockets(TAG)
    for (const socket of sockets) {
      if (attachmentOf(socket).current) send(socket, { seq, change })
    }
  }

  /** Sends the changes that a client missed. If they are too long, the client has to reconnect for the rest. */
  #catchUp(socket: WebSocket, missed: Iterable<LoggedChange>): void {
    let remaining = MAX_MISSED_CHARACTERS
    for (const logged of missed) {
      if (remaining < 0) return socket.close(1000, 'There is more')
      remaining -= send(socket, logged)
    }
  }

  /** If a closed stream carried the changes of its session, makes another open stream carry them. */
  replaceClosed(socket: WebSocket): void {
    if (!this.#ctx.getTags(socket).includes(TAG)) return
    const { session, current } = attachmentOf(socket)
    if (!current) return
    const next = this.#startedSockets(session).findLast((other) => other !== socket)
    if (!next) return
    const { stream: nextStream } = attachmentOf(next)
    const stream = nextStream === undefined ? undefined : this.#makeCurrent(session, nextStream)
    next.serializeAttachment({ session, stream, current: true } satisfies Attachment)
  }

  /** Replaces the subscriptions of a session. */
  watch(session: string, watched: readonly string[]): void {
    if (!this.#ended.get(session)) this.#log.watch(session, watched)
  }

  /** Whether a session has an open stream. */
  listens(session: string): boolean {
    return this.#startedSockets(session).length > 0
  }

  /**
   * Checks up to `limit` sessions without activity since `before`, and removes those that no longer exist.
   * Returns the number of checked sessions.
   */
  async sweep(
    exists: (session: string) => Promise<boolean>,
    { before, limit }: { before: number; limit: number },
  ): Promise<number> {
    const staleSessions = this.#log.staleSessions(before, limit)
    await Promise.all(
      staleSessions.map(async (session) => {
        if (await exists(session)) this.#log.noteActive(session)
        else this.leave(session)
      }),
    )
    return staleSessions.length
  }

  /** Removes a session that ended, and ends its streams. */
  leave(session: string): void {
    this.#ended.set(session, true)
    this.#log.removeSession(session)
    for (const socket of this.#openSockets(session)) socket.close(1000, 'The session ended')
  }

  /** Stores which stream carries the changes of a session. Returns its id; `undefined` if that fails. */
  #makeCurrent(session: string, stream: string): string | undefined {
    return this.#tryToStore(() => {
      this.#log.setCurrentStream(session, stream)
      return stream
    })
  }

  /**
   * Writes to the log. An error is reported, not thrown, so that connected clients still receive the
   * change.
   */
  #tryToStore<T>(work: () => T): T | undefined {
    try {
      return work()
    } catch (error) {
      console.error(error)
      return undefined
    }
  }

  /**
   * Makes a new socket the only one that carries the changes of its session. Closes other sockets of the same
   * stream, and the oldest sockets if the session has too many.
   */
  #displaceOthers(socket: WebSocket): void {
    const { session, stream } = attachmentOf(socket)
    const others = this.#startedSockets(session).filter((other) => other !== socket)
    const excess = others.length + 1 - MAX_STREAMS_PER_SESSION
    for (const [index, other] of others.entries()) {
      const otherAttachment = attachmentOf(other)
      if (otherAttachment.current) other.serializeAttachment({ ...otherAttachment, current: false })
      if (stream !== undefined && otherAttachment.stream === stream) {
        other.close(1000, 'Resumed elsewhere')
      } else if (index < excess) endExcess(other)
    }
  }

  /** The open sockets of a session whose streams have started. */
  #startedSockets(session: string): WebSocket[] {
    return this.#openSockets(session).filter((socket) => !attachmentOf(socket).wish)
  }

  /** Returns the open sockets with a tag: the tag of one session, or the tag of all sessions. */
  #openSockets(tag: string): WebSocket[] {
    const isOpen = ({ readyState }: WebSocket): boolean => readyState === WebSocket.OPEN
    return this.#ctx.getWebSockets(tag).filter(isOpen)
  }
}

/** Reads the id of an event: the stream, and the sequence number of the change. */
function parseEventId(eventId = ''): { stream: string; seq: number } | undefined {
  const [, stream, digits] = /^([\da-f]{8})_(\d{1,15})$/.exec(eventId) ?? []
  return stream === undefined ? undefined : { stream, seq: Number(digits) }
}

function newStreamId(): string {
  return crypto.randomUUID().slice(0, 8)
}

function attachmentOf(socket: WebSocket): Attachment {
  return socket.deserializeAttachment() as Attachment
}

/** Ends a stream of a session that has too many streams. */
function endExcess(socket: WebSocket): void {
  try {
    sendEvent(socket, { retry: RETRY_MS, data: '' })
  } finally {
    socket.close(1000, 'The session has too many streams')
  }
}

/**
 * Sends a change, and returns its length in characters. Never throws, so that the other clients receive the
 * change too.
 */
function send(socket: WebSocket, { seq, change }: AnnouncedChange): number {
  const { stream } = attachmentOf(socket)
  const { method, ...params } = change
  const paramsMember = Object.keys(params).length > 0 ? { params } : {}
  const data = JSON.stringify({ jsonrpc: '2.0', method, ...paramsMember })
  try {
    const id = seq === undefined ? undefined : `${stream}_${seq}`
    // A stream without an id is one of HTTP+SSE, which requires the event name `message`
    sendEvent(socket, stream === undefined ? { event: 'message', data } : { id, data })
  } catch {
    socket.close(1011, 'The client does not read')
  }
  return data.length
}
