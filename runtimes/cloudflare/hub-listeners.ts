/**
 * The streams of clients of 2026-07-28 in a hub. Finds the streams that a change concerns.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */
import { topicAndAncestors, topicIndex } from '#internal/patterns'
import type { ServerChange } from '#internal/http'
import { mayPass, topicsOfFilter } from './subscription-filter.ts'

/** The tag of the sockets of listeners. */
const TAG = 'listener'

/**
 * The maximum number of topics in the index, to limit the memory of the object. Sockets with further topics
 * are compared with every change.
 */
const MAX_TOPICS = 200_000

/** The listeners of a hub. */
export class HubListeners {
  readonly #ctx: DurableObjectState
  readonly #index = topicIndex<WebSocket>()
  /** The functions that remove each socket from the index. Absent until the first change. */
  #removals: Map<WebSocket, () => void> | undefined
  /** The number of topics in the index. */
  #topicCount = 0

  constructor(ctx: DurableObjectState) {
    this.#ctx = ctx
  }

  /** Opens the socket of a listener. */
  listen(filter: unknown, account: string): Response {
    const { 0: client, 1: socket } = new WebSocketPair()
    this.#ctx.acceptWebSocket(socket, [TAG, account])
    socket.serializeAttachment(filter)
    this.#add(socket)
    return new Response(null, { status: 101, webSocket: client })
  }

  /** Announces a change to the listeners that requested it. */
  announce(change: ServerChange): void {
    if ('elicitationId' in change) return
    this.#load()
    const text = JSON.stringify(change)
    const topics = 'uri' in change ? topicAndAncestors(change.uri) : [change.method]
    for (const socket of this.#index.find(topics)) {
      if (mayPass(socket.deserializeAttachment(), change)) send(socket, text)
    }
  }

  /** Removes a socket that was closed. */
  removeClosed(socket: WebSocket): void {
    this.#removals?.get(socket)?.()
    this.#removals?.delete(socket)
  }

  /** Builds the index, unless it exists: this object may have been evicted from memory. */
  #load(): void {
    if (this.#removals) return
    this.#removals = new Map()
    for (const socket of this.#ctx.getWebSockets(TAG)) this.#add(socket)
  }

  /** Adds a socket to the index, if the index exists. */
  #add(socket: WebSocket): void {
    if (!this.#removals) return
    const topics = topicsOfFilter(socket.deserializeAttachment())
    const count = topics?.length ?? 0
    const isIndexed = this.#topicCount + count <= MAX_TOPICS
    if (isIndexed) this.#topicCount += count
    const remove = this.#index.add(socket, isIndexed ? topics : undefined)
    this.#removals.set(socket, () => {
      remove()
      if (isIndexed) this.#topicCount -= count
    })
  }
}

/** Sends to a listener. Never throws, so that the other listeners receive the change too. */
function send(socket: WebSocket, text: string): void {
  try {
    socket.send(text)
  } catch {
    socket.close(1011, 'The listener does not read')
  }
}
