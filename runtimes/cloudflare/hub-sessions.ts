/**
 * The streams of sessions that belong to no request, at a hub: which of them hears of a change, and
 * what one missed whose client comes back.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
import type { ServerChange } from '../../src/server/index.ts'
import type { HubLog, LoggedChange } from './hub-log.ts'
import type { SessionWish } from './hub-wish.ts'
import { sendEvent } from './stream-socket.ts'

/** What marks the sockets of sessions among those of a hub. */
const TAG = 'session'

/** The most characters that a client gets at once of what it missed. */
const MAX_AT_ONCE = 4_000_000

/** What a socket remembers. */
interface Attachment {
  readonly session: string
  /** The id of the stream; none where its client cannot come back, as with HTTP+SSE. */
  readonly stream: string | undefined
  /** Whether the stream has its turn: each change is told to one stream of a session. */
  readonly current: boolean
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

  constructor(ctx: DurableObjectState, log: HubLog) {
    this.#ctx = ctx
    this.#log = log
  }

  /** Opens the socket of a stream, which has its turn from now on, and tells what was missed. */
  listen({ session, primed, plain, after }: SessionWish): Response {
    const [, resumed, digits] = /^([\da-f]{8})_(\d{1,15})$/.exec(after ?? '') ?? []
    const known = this.#log.turns(session).some(({ stream }) => stream === resumed)
    if (after !== undefined && !known) return new Response(null, { status: 400 })

    const stream = plain ? undefined : (resumed ?? crypto.randomUUID().slice(0, 8))
    if (stream !== undefined) this.#log.take(session, stream)
    const { 0: client, 1: socket } = new WebSocketPair()
    try {
      this.#ctx.acceptWebSocket(socket, [TAG, session])
    } catch (error) {
      // An object takes 32,768 sockets.
      console.error(error)
      return new Response(null, { status: 503 })
    }
    for (const other of this.#of(session)) {
      if (other === socket) continue
      const open = attachment(other)
      if (open.current) other.serializeAttachment({ ...open, current: false })
      if (stream !== undefined && open.stream === stream) other.close(1000, 'Resumed elsewhere')
    }
    socket.serializeAttachment({ session, stream, current: true } satisfies Attachment)
    if (resumed !== undefined) {
      this.#catchUp(socket, this.#log.missed(session, resumed, Number(digits)))
    } else if (primed) sendEvent(socket, { id: `${stream}_${this.#log.last}`, data: '' })
    return new Response(null, { status: 101, webSocket: client })
  }

  /** Tells the sessions that want to hear of it of a change. */
  tell(change: ServerChange): void {
    if ('elicitationId' in change && this.#log.knows(change)) return
    const targeted = 'uri' in change || 'elicitationId' in change
    const watchers = targeted ? this.#log.watchers(change) : undefined
    if (watchers?.length === 0) return
    // Kept before anybody hears of it: whoever does not may come back.
    const seq = this.#keep(change)
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

  /** What cannot be kept is told all the same, without an id. */
  #keep(change: ServerChange): number | undefined {
    try {
      return this.#log.append(change)
    } catch (error) {
      console.error(error)
      return undefined
    }
  }

  /** Lets another open stream of a session have the turn of one that is closed. */
  closed(socket: WebSocket): void {
    if (!this.#ctx.getTags(socket).includes(TAG)) return
    const { session, current } = attachment(socket)
    const next = current ? this.#of(session).findLast((other) => other !== socket) : undefined
    if (!next) return
    const known = attachment(next)
    next.serializeAttachment({ ...known, current: true } satisfies Attachment)
    if (known.stream !== undefined) this.#log.take(session, known.stream)
  }

  /** Notes what a session watches, instead of what it did before. */
  watch(session: string, watched: readonly string[]): void {
    this.#log.watch(session, watched)
  }

  /** Whether a session has an open stream. */
  listens(session: string): boolean {
    return this.#of(session).length > 0
  }

  /** Forgets a session, and ends its streams. */
  leave(session: string): void {
    this.#log.leave(session)
    for (const socket of this.#of(session)) socket.close(1000, 'The session ended')
  }

  #of(tag: string): WebSocket[] {
    const open = ({ readyState }: WebSocket): boolean => readyState === WebSocket.OPEN
    return this.#ctx.getWebSockets(tag).filter(open)
  }
}

function attachment(socket: WebSocket): Attachment {
  return socket.deserializeAttachment() as Attachment
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
