/**
 * The connections of one session in this process for messages that belong to no request. Only the newest
 * connection of all processes receives the messages.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server
 */
import type { Sink } from '../../session/event-store.ts'
import type { OutgoingStream } from '../../session/streams.ts'
import { sessionNotFound } from '../../transport/http/http-error.ts'
import type { LoggedChange } from '../changes.ts'
import type { NewestConnection } from './listener-table.ts'
import { Listener, type ListenerSession } from './listener.ts'
import type { NewStreamTurn, StreamTurn } from './turns.ts'

/** How long to wait before the next attempt when the database cannot be used, in milliseconds. */
const RETRY_MS = 1_000

/** The newest connection of all processes. */
export interface NewestListener {
  /** The process that has the connection; `null` after the connection was closed. */
  readonly listeningProcess: string | null
  /** The number of the connection. */
  readonly connection: number
  /** The position of the last event on the last closed connection. */
  readonly delivered: string | null
  /** The turn of the connection's stream; `null` if the session has had no connection. */
  readonly turn: StreamTurn | null
}

/** The connections of one session in this process. */
export class Listeners {
  readonly #session: ListenerSession
  readonly #all = new Set<Listener>()
  /** The connections that are about to become the newest connection. */
  readonly #activating = new Set<Listener>()
  #openingCount = 0

  constructor(session: ListenerSession) {
    this.#session = session
  }

  get connected(): boolean {
    return [...this.#all].some(({ connected }) => connected)
  }

  /** Whether there is a connection, or one is being opened. */
  get busy(): boolean {
    return this.#openingCount > 0 || this.#all.size > 0
  }

  /** Whether another process has a newer connection, so that this process sends nothing. */
  get isSilent(): boolean {
    return this.#newest()?.active === false
  }

  /** Opens a connection that receives the messages from now on. */
  async open(): Promise<OutgoingStream> {
    this.#openingCount++
    try {
      const lastChangeId = this.#lastChangeId
      // The turn of a new stream, which begins after the last change and the last message so far
      const claimed = await this.#claim([null, lastChangeId, null])
      if (!claimed) throw sessionNotFound()
      const { connection, sent } = claimed
      const listener = new Listener(this.#session, connection, `${lastChangeId}.${sent}`)
      this.#all.add(listener)
      listener.beginTurn(claimed)
      // If this process has read changes in the meantime, the listener becomes active only after it has caught
      // up
      listener.active = this.#session.changes.position <= lastChangeId
      return listener
    } finally {
      this.#openingCount--
    }
  }

  /** Connects a client that has received all messages of a stream up to a position. */
  resume(stream: number, after: string, sink: Sink): void {
    const listener = new Listener(this.#session, stream, after)
    listener.connect(sink)
    this.#all.add(listener)
    this.#activate(listener)
  }

  /** Delivers a change to the newest connection. */
  deliver(logged: LoggedChange): void {
    for (const listener of this.#all) if (listener.active) listener.deliver(logged)
  }

  /**
   * Receives which connection is the newest of all processes. If this process has that connection, sends the
   * session's own messages that were not sent yet.
   */
  wake({ listeningProcess, connection, delivered, turn }: NewestListener): void {
    for (const other of this.#all) {
      if (other.connectionNumber !== undefined && other.connectionNumber !== connection)
        other.endTurn(turn)
    }
    const newest = this.#newest()
    if (!newest?.connected) return
    if (newest.active) void newest.readMessages().catch(this.#session.report)
    else if (listeningProcess === null && newest.connectionNumber !== undefined) {
      if (delivered !== null) newest.skipTo(delivered)
      this.#activate(newest)
    }
  }

  /**
   * Moves the positions of all connections back, if a backup with fewer messages was restored.
   *
   * @param sent The number of the session's own messages.
   */
  goBackTo(sent: number): void {
    for (const listener of this.#all) listener.goBackTo(sent)
  }

  /** Removes the connections that clients have closed. */
  removeClosed(): void {
    for (const listener of this.#all) {
      if (!listener.disconnected) continue
      this.#all.delete(listener)
      if (listener.connectionNumber !== undefined)
        this.#session.recordClosed(listener.connectionNumber, listener.delivered)
    }
  }

  /** Sends the changes that were published so far. */
  async drain(): Promise<void> {
    for (const listener of this.#all) {
      if (listener.active) await listener.catchUp().catch(this.#session.report)
    }
  }

  close(): void {
    for (const listener of this.#all) listener.close()
    this.removeClosed()
  }

  #newest(): Listener | undefined {
    const connected = [...this.#all].filter((listener) => listener.connected)
    return connected
      .toSorted((a, b) => (a.connectionNumber ?? 0) - (b.connectionNumber ?? 0))
      .at(-1)
  }

  /**
   * Claims the next turn. Meanwhile, the connections of this process pause, so that no message is sent both on
   * them and in that turn.
   */
  async #claim(turn: NewStreamTurn): Promise<NewestConnection | undefined> {
    const paused = [...this.#all].filter(({ active }) => active)
    for (const other of paused) other.pause()
    try {
      const claimed = await this.#session.claim(turn)
      if (claimed) for (const other of this.#all) other.endTurn(claimed.turn)
      return claimed
    } catch (error) {
      for (const other of paused) other.continue()
      throw error
    }
  }

  /** The highest id of a change that a connection of this process may have sent. */
  get #lastChangeId(): number {
    // A connection that catches up may be ahead of the changes that this process has read
    const sent = [...this.#all].map(({ lastChangeId }) => lastChangeId)
    return Math.max(this.#session.changes.position, ...sent)
  }

  /** Makes a connection the newest connection, and sends the messages that its client missed. */
  #activate(listener: Listener): void {
    if (this.#activating.has(listener)) return
    this.#activating.add(listener)
    void this.#tryToActivate(listener).finally(() => this.#activating.delete(listener))
  }

  /** Tries again until the database can be used, or the client has disconnected. */
  async #tryToActivate(listener: Listener): Promise<void> {
    while (listener.connected) {
      try {
        const claimed = await this.#claim(listener.turnToClaim(this.#lastChangeId))
        if (!claimed) return listener.close()
        listener.goBackTo(claimed.sent)
        listener.beginTurn(claimed)
        // If `removeClosed` has removed the listener in the meantime, its client has disconnected
        if (!this.#all.has(listener))
          this.#session.recordClosed(claimed.connection, listener.delivered)
        return await listener.catchUp()
      } catch (error) {
        this.#session.report(error)
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
      }
    }
  }
}
