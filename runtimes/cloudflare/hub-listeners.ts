/**
 * The streams of clients of 2026-07-28 in a hub, the Durable Object that announces changes. Finds the streams
 * that a change concerns.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */
import { topicAndAncestors, topicIndex } from '#internal/patterns'
import type { ServerChange } from '#internal/http'
import { mayMatch, topicsOfFilter } from './subscription-filter.ts'

/** The tag that distinguishes these streams from the hub's other sockets. */
const TAG = 'listener'

/**
 * The maximum number of topics in the index, to limit the memory of the object. A socket whose topics exceed
 * this number is compared with every change.
 */
const MAX_TOPICS = 200_000

/** The listeners of a hub. */
export class HubListeners {
  readonly #ctx: DurableObjectState
  readonly #index = topicIndex<WebSocket>()
  /** For each socket, the function that removes it from the index. Undefined until the index is built. */
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
    // Only sessions are notified that an elicitation was completed
    if ('elicitationId' in change) return
    this.#buildIndex()
    const text = JSON.stringify(change)
    const topics = 'uri' in change ? topicAndAncestors(change.uri) : [change.method]
    for (const socket of this.#index.find(topics)) {
      if (mayMatch(socket.deserializeAttachment(), change)) send(socket, text)
    }
  }

  /** Removes a socket that was closed. */
  removeClosed(socket: WebSocket): void {
    this.#removals?.get(socket)?.()
    this.#removals?.delete(socket)
  }

  /** Builds the index, unless it exists. The index is lost when the object is evicted from memory. */
  #buildIndex(): void {
    if (this.#removals) return
    this.#removals = new Map()
    for (const socket of this.#ctx.getWebSockets(TAG)) this.#add(socket)
  }

  /** Adds a socket to the index, if the index exists. */
  #add(socket: WebSocket): void {
    if (!this.#removals) return
    const topics = topicsOfFilter(socket.deserializeAttachment())
    const ownCount = topics?.length ?? 0
    const isIndexed = this.#topicCount + ownCount <= MAX_TOPICS
    if (isIndexed) this.#topicCount += ownCount
    const remove = this.#index.add(socket, isIndexed ? topics : undefined)
    this.#removals.set(socket, () => {
      remove()
      if (isIndexed) this.#topicCount -= ownCount
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
