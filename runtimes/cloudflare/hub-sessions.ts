/**
 * The streams of sessions that belong to no request, at a hub: which of them hears of a change, and
 * what one missed whose client comes back.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
import { boundedCache } from '#internal/patterns'
import type { ServerChange } from '#internal/http'
import type { HubLog, LoggedChange } from './hub-log.ts'
import type { SessionStreamRequest } from './subscription-filter.ts'
import { sendEvent } from './stream-socket.ts'

/** What marks the sockets of sessions among those of a hub. */
const TAG = 'session'
/** The most open streams of one session, so that it leaves sockets to others; the oldest ends. */
const MAX_OPEN = 32
/**
 * Milliseconds after which its client may come back, whose stream then takes the place of another:
 * at once they would do so without end.
 */
const BACK_MS = 60_000

/** The most characters that a client gets at once of what it missed. */
const MAX_AT_ONCE = 4_000_000

/** How many sessions that ended lately are remembered. */
const MAX_ENDED = 1000

/** What a socket remembers. */
interface Attachment {
  readonly session: string
  /** The id of the stream; none where its client cannot come back to it, as with HTTP+SSE. */
  readonly stream: string | undefined
  /** Whether the stream has its turn: each change is told to one stream of a session. */
  readonly current: boolean
  /** What it was opened for, until it begins. */
  readonly wish?: SessionStreamRequest
}

/** A change, with its place among all that are kept. */
interface Told {
  readonly seq: number | undefined
  readonly change: ServerChange
}

/** The streams of all sessions of a hub. */
export class HubSessions {
  readonly #ctx: DurableObjectState
  readonly #log: HubLog
  /** Sessions that ended lately, as what they asked for before may come only now. */
  readonly #ended = boundedCache<string, true>(MAX_ENDED)

  constructor(ctx: DurableObjectState, log: HubLog) {
    this.#ctx = ctx
    this.#log = log
  }

  /**
   * Opens the socket of a stream, which begins once the Worker says so.
   *
   * @param account For whom it is counted.
   */
  listen(wish: SessionStreamRequest, account: string): Response {
    const { session, after } = wish
    if (this.#ended.get(session)) return new Response(null, { status: 404 })
    const resumed = readPlace(after)
    const known = resumed && this.#log.canResume(session, resumed.stream, resumed.seq)
    if (after !== undefined && !known) return new Response(null, { status: 400 })

    const { 0: client, 1: socket } = new WebSocketPair()
    this.#ctx.acceptWebSocket(socket, [TAG, session, account])
    const attached: Attachment = { session, stream: resumed?.stream, current: false, wish }
    socket.serializeAttachment(attached)
    return new Response(null, { status: 101, webSocket: client })
  }

  /**
   * Lets a stream have its turn from now on, and tells what was missed. A Worker that gave up before
   * the hub came to it never says so: its client was told to come back, and must not lose the turn
   * that it has got since.
   */
  begin(socket: WebSocket): void {
    const { session, wish } = attachment(socket)
    if (!wish) return
    const { plain, primed, after } = wish
    const resumed = readPlace(after)
    const stream = plain ? undefined : this.#take(session, resumed?.stream ?? newStreamId())
    socket.serializeAttachment({ session, stream, current: true } satisfies Attachment)
    this.#displace(socket)
    if (resumed) {
      // Some clients know no id but those of their latest connection
      if (primed) sendEvent(socket, { id: after, data: '' })
      this.#catchUp(socket, this.#log.missed(session, resumed.stream, resumed.seq))
    } else if (primed && stream !== undefined) {
      sendEvent(socket, { id: `${stream}_${this.#log.last}`, data: '' })
    }
  }

  /** Tells the sessions that want to hear of it of a change. */
  tell(change: ServerChange): void {
    if ('elicitationId' in change && this.#log.knows(change)) return
    const targeted = 'uri' in change || 'elicitationId' in change
    const watchers = targeted ? this.#log.watchers(change) : undefined
    if (watchers?.length === 0) return
    // Kept before anybody hears of it: whoever does not may come back.
    const seq = this.#keep(() => this.#log.append(change))
    const sockets = watchers?.flatMap((session) => this.#of(session)) ?? this.#of(TAG)
    for (const socket of sockets) {
      if (attachment(socket).current) send(socket, { seq, change })
    }
  }

  /** Sends what a client missed; one that missed much comes back for the rest. */
  #catchUp(socket: WebSocket, missed: Iterable<LoggedChange>): void {
    let room = MAX_AT_ONCE
    for (const logged of missed) {
      if (room < 0) return socket.close(1000, 'There is more')
      room -= send(socket, logged)
    }
  }

  /** Lets another open stream of a session have the turn of one that is closed. */
  closed(socket: WebSocket): void {
    if (!this.#ctx.getTags(socket).includes(TAG)) return
    const { session, current } = attachment(socket)
    const next = current ? this.#begun(session).findLast((other) => other !== socket) : undefined
    if (!next) return
    const known = attachment(next)
    const stream = known.stream === undefined ? undefined : this.#take(session, known.stream)
    next.serializeAttachment({ session, stream, current: true } satisfies Attachment)
  }

  /** Notes what a session watches, instead of what it did before. */
  watch(session: string, watched: readonly string[]): void {
    if (!this.#ended.get(session)) this.#log.watch(session, watched)
  }

  /** Whether a session has an open stream. */
  listens(session: string): boolean {
    return this.#begun(session).length > 0
  }

  /** Forgets those sessions of long ago that are not there any more; how many it asked for. */
  async sweep(
    isThere: (session: string) => Promise<boolean>,
    { before, limit }: { before: number; limit: number },
  ): Promise<number> {
    const quiet = this.#log.quiet(before, limit)
    await Promise.all(
      quiet.map(async (session) => {
        if (await isThere(session)) this.#log.seen(session)
        else this.leave(session)
      }),
    )
    return quiet.length
  }

  /** Forgets a session, and ends its streams. */
  leave(session: string): void {
    this.#ended.set(session, true)
    this.#log.leave(session)
    for (const socket of this.#of(session)) socket.close(1000, 'The session ended')
  }

  /** Lets a stream have its turn; its id, unless that cannot be kept and so never be resumed. */
  #take(session: string, stream: string): string | undefined {
    return this.#keep(() => {
      this.#log.take(session, stream)
      return stream
    })
  }

  /** What cannot be kept is told all the same, to whoever is connected. */
  #keep<Kept>(work: () => Kept): Kept | undefined {
    try {
      return work()
    } catch (error) {
      console.error(error)
      return undefined
    }
  }

  /** Lets a new socket have the turn of the others of its session. */
  #displace(socket: WebSocket): void {
    const { session, stream } = attachment(socket)
    const others = this.#begun(session).filter((other) => other !== socket)
    for (const [n, other] of others.entries()) {
      const known = attachment(other)
      if (known.current) other.serializeAttachment({ ...known, current: false })
      if (stream !== undefined && known.stream === stream) other.close(1000, 'Resumed elsewhere')
      else if (n <= others.length - MAX_OPEN) pushOut(other)
    }
  }

  #begun(session: string): WebSocket[] {
    return this.#of(session).filter((socket) => !attachment(socket).wish)
  }

  #of(tag: string): WebSocket[] {
    const open = ({ readyState }: WebSocket): boolean => readyState === WebSocket.OPEN
    return this.#ctx.getWebSockets(tag).filter(open)
  }
}

/** The place in a stream that an event of it tells. */
function readPlace(eventId = ''): { stream: string; seq: number } | undefined {
  const [, stream, digits] = /^([\da-f]{8})_(\d{1,15})$/.exec(eventId) ?? []
  return stream === undefined ? undefined : { stream, seq: Number(digits) }
}

function newStreamId(): string {
  return crypto.randomUUID().slice(0, 8)
}

function attachment(socket: WebSocket): Attachment {
  return socket.deserializeAttachment() as Attachment
}

/** Ends a stream that is one too many. */
function pushOut(socket: WebSocket): void {
  try {
    sendEvent(socket, { retry: BACK_MS, data: '' })
  } finally {
    socket.close(1000, 'The session has too many streams')
  }
}

/** Sends a change, and says how long it is. A client that is gone must not keep it from others. */
function send(socket: WebSocket, { seq, change }: Told): number {
  const { stream } = attachment(socket)
  const { method, ...params } = change
  const said = Object.keys(params).length > 0 ? { params } : {}
  const data = JSON.stringify({ jsonrpc: '2.0', method, ...said })
  try {
    const id = seq === undefined ? undefined : `${stream}_${seq}`
    sendEvent(socket, stream === undefined ? { event: 'message', data } : { id, data })
  } catch {
    socket.close(1011, 'The client does not read')
  }
  return data.length
}
