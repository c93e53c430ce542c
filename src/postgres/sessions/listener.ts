/**
 * A connection for messages that belong to no request. Changes are not stored per session. Instead,
 * each event id contains the number of its stream and two positions: one in the log of changes, and
 * one among the session's own messages, which are the stored messages that belong to no request.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server
 */
import type { JsonRpcNotification } from '../../protocol/types.ts'
import type { SessionRecord } from '../../session/session.ts'
import type { Sink } from '../../session/event-store.ts'
import type { OutgoingStream } from '../../session/streams.ts'
import { announceTo } from '../../server/features/announce.ts'
import type { Exchange } from '../../server/request/exchange.ts'
import { wellFormedJson } from '../../protocol/well-formed-json.ts'
import { ALL_LISTS, type ChangeLog, type LoggedChange } from '../changes.ts'
import type { NewestConnection } from './listener-table.ts'
import type { StreamBatch } from './stream-table.ts'
import { streamOfChange, streamOfMessage, type NewStreamTurn, type StreamTurn } from './turns.ts'

/**
 * The id under which the messages of a session that belong to no request are stored. The ids of the streams
 * that the client opens for these messages begin with the same word.
 */
export const LISTENING = 'listening'

/** Returns the number of a stream for messages that belong to no request; `undefined` for any other stream. */
export function listeningNumber(stream: string): number | undefined {
  // Earlier versions did not number the streams
  const [, digits] = /^listening(\d{0,9})$/.exec(stream) ?? []
  return digits === undefined ? undefined : Number(digits)
}

/** The operations of a session that its connections use. */
export interface ListenerSession {
  readonly record: SessionRecord
  /** Returns a promise that is pending while the record is being read again. */
  readonly refreshing: () => Promise<void> | undefined
  readonly changes: ChangeLog
  /** Returns the session's own messages after a sequence number. */
  readonly messagesAfter: (seq: number) => Promise<StreamBatch>
  /**
   * Makes a connection the newest connection, and begins its turn. Returns `undefined` if the session has
   * ended.
   */
  readonly claim: (turn: NewStreamTurn) => Promise<NewestConnection | undefined>
  /**
   * Wraps a function that sends notifications, so that they are observed if the server has an
   * observer.
   */
  readonly observe: (send: Exchange['send']) => Exchange['send']
  /** Records that a connection was closed, and the position of its last event. */
  readonly recordClosed: (connection: number, delivered: string) => void
  readonly report: (error: unknown) => void
}

/** One connection. */
export class Listener implements OutgoingStream {
  readonly id: string
  readonly #session: ListenerSession
  readonly #stream: number
  /** The number of the connection. Only the connection with the highest number receives messages. */
  connectionNumber: number | undefined
  /** Whether new messages are sent on the connection. */
  active = false
  /** The turns of the session's streams when the connection became the newest connection. */
  #turns: readonly StreamTurn[] = []
  /** The turn that began when another connection became the newest connection. */
  #nextTurn: StreamTurn | undefined
  #sink: Sink | undefined
  /** The id of the last change that was announced or skipped. */
  #changeId = 0
  /** The number of the session's last own message that was sent or skipped. */
  #messageSeq = 0
  readonly #queue: LoggedChange[] = []
  #isSending = false

  /**
   * @param stream The number of the stream.
   * @param delivered The position of the last event that the client has received.
   */
  constructor(session: ListenerSession, stream: number, delivered: string) {
    this.id = `${LISTENING}${stream}`
    this.#session = session
    this.#stream = stream
    this.skipTo(delivered)
  }

  get connected(): boolean {
    return this.#sink?.open === true
  }

  /** Whether the client has disconnected. */
  get disconnected(): boolean {
    return this.#sink?.open === false
  }

  connect(sink: Sink): void {
    this.#sink = sink
    if (this.connectionNumber === undefined || this.active) return
    // Sends the changes that this process has read while the connection was being opened
    this.continue()
  }

  /** Sends no new messages until {@link continue} is called, or a turn of this connection begins. */
  pause(): void {
    this.#skipUnrelated()
    this.active = false
  }

  /** Sends what was published during a pause, and becomes active again unless its turn has ended. */
  continue(): void {
    void this.catchUp().catch((error: unknown) => {
      this.active = !this.#nextTurn
      this.#session.report(error)
    })
  }

  sendEventId(retry?: number): void {
    void this.#sink?.send({ id: this.#eventId(), retry, data: '' })
  }

  // Sends nothing: messages are stored first, and the process with the newest connection then sends them
  send(): undefined {
    return undefined
  }

  // Does nothing, because handlers disconnect only the streams of their calls
  disconnectFor(): void {}

  close(): void {
    if (this.#sink?.open) this.#sink.close()
  }

  /**
   * The turn that begins when this connection becomes the newest one. The turn of a client that has just
   * resumed a stream begins with the next message. The turn of an older connection begins with the messages
   * that no other connection has sent.
   *
   * @param lastChangeId The id of the last change that any connection may have sent.
   */
  turnToClaim(lastChangeId: number): NewStreamTurn {
    return this.connectionNumber === undefined
      ? [this.#stream, lastChangeId, null]
      : [this.#stream, this.#changeId, this.#messageSeq]
  }

  /** Makes this connection the newest connection. */
  beginTurn({ connection, turns }: NewestConnection): void {
    this.connectionNumber = connection
    this.#turns = turns
    this.#nextTurn = undefined
  }

  /** Ends the turn of this connection: only what was published before the next turn is still sent. */
  endTurn(nextTurn: StreamTurn | null): void {
    if (this.connectionNumber === undefined) return
    this.pause()
    if (!nextTurn || this.#nextTurn) return
    this.#nextTurn = nextTurn
    const [, change, message] = nextTurn
    if (this.#changeId < change || this.#messageSeq < message) this.continue()
  }

  /** The id of the last change that was announced or skipped. */
  get lastChangeId(): number {
    return this.#changeId
  }

  /** The position of the last event: the last change, and the last of the session's own messages. */
  get delivered(): string {
    this.#skipUnrelated()
    return `${this.#changeId}.${this.#messageSeq}`
  }

  /** Moves the position forward to the last event of another connection, if that event is later. */
  skipTo(position: string): void {
    const [change = 0, message = 0] = position.split('.').map(Number)
    this.#changeId = Math.max(this.#changeId, change)
    this.#messageSeq = Math.max(this.#messageSeq, message)
  }

  /**
   * Moves the position back if the session has fewer own messages than this connection has sent, because a
   * backup of the database was restored.
   */
  goBackTo(sent: number): void {
    if (sent >= this.#messageSeq) return
    this.#messageSeq = sent
    this.#turns = []
  }

  /** Sends a change that was logged. */
  deliver(logged: LoggedChange): void {
    this.#queue.push(logged)
    if (!this.#isSending) this.#sendQueue().catch(this.#session.report)
  }

  /**
   * Sends the changes that the client missed on this stream, and then becomes active, unless the turn of the
   * connection has ended.
   */
  async catchUp(): Promise<void> {
    this.#skipUnrelated()
    for (;;) {
      const { position } = this.#session.changes
      const { changes, isComplete } = await this.#session.changes.readAfter(this.#changeId)
      // This process has read changes up to `position`. If the log has none of them, they were deleted since
      const wereDeleted = changes.length === 0 && this.#changeId < position
      if (!isComplete || wereDeleted) this.#announceAll(position)
      for (const logged of changes) {
        const [, lastChangeBefore = Infinity] = this.#nextTurn ?? []
        if (logged.id > lastChangeBefore) return this.#sendMessages()
        if (this.#carries(streamOfChange(this.#turns, logged.id))) this.#announce(logged)
        else this.#changeId = logged.id
      }
      // Changes that this process has read in the meantime were not delivered, so they must be read again
      if (changes.length === 0 && position === this.#session.changes.position) break
    }
    this.active = !this.#nextTurn
    await this.#sendMessages()
  }

  /** Sends the session's own messages that were not sent yet. */
  async readMessages(): Promise<void> {
    if (this.active) await this.#sendMessages()
  }

  async #sendMessages(): Promise<void> {
    for (let more = this.connected; more;) {
      const batch = await this.#session.messagesAfter(this.#messageSeq)
      for (const { seq, message } of batch.events) {
        if (seq <= this.#messageSeq) continue
        const [, , lastMessageBefore = Infinity] = this.#nextTurn ?? []
        if (seq > lastMessageBefore) return
        this.#messageSeq = seq
        if (!this.#carries(streamOfMessage(this.#turns, seq))) continue
        await this.#sink?.send({ id: this.#eventId(), data: message })
      }
      more = batch.more
    }
  }

  /** Moves the position past the changes that were read and do not concern the session. */
  #skipUnrelated(): void {
    if (this.active && !this.#isSending) {
      this.#changeId = Math.max(this.#changeId, this.#session.changes.position)
    }
  }

  async #sendQueue(): Promise<void> {
    this.#isSending = true
    for (let next = this.#queue.shift(); next; next = this.#queue.shift()) {
      // If the record is being read again, waits for it: a subscription or a newer connection that was confirmed
      // before the change must be considered
      const refreshing = this.#session.refreshing()
      if (refreshing) await refreshing
      if (this.active) this.#announce(next)
    }
    this.#isSending = false
  }

  /**
   * Announces everything that may have changed, because the log no longer contains the missed changes.
   *
   * @param id The id of the last change that the client may have missed.
   */
  #announceAll(id: number): void {
    for (const change of ALL_LISTS) this.#announce({ id, origin: '', change })
    for (const uri of this.#session.record.subscriptions) {
      const change = { method: 'notifications/resources/updated', uri } as const
      this.#announce({ id, origin: '', change })
    }
  }

  /** Sends a change that concerns the session, and moves the position past it. */
  #announce({ id, origin, change }: LoggedChange): void {
    // A change without origin stands for changes that were deleted, so it is sent whatever its id is
    if (id <= this.#changeId && origin !== '') return
    this.#changeId = id
    // `announceTo` removes completed elicitations from this copy only, so that their completion is announced
    // again to a client that resumes
    const record = { ...this.#session.record }
    const send = (message: JsonRpcNotification): void => {
      void this.#sink?.send({ id: this.#eventId(), data: wellFormedJson(message) })
    }
    // Without a connected client nothing is sent, so there is nothing to observe
    announceTo({ record }, change, this.connected ? this.#session.observe(send) : send)
  }

  /**
   * Whether a message is sent on this stream. A message whose turn is unknown is sent, so that it is not lost.
   *
   * @param stream The stream that carried the message; `undefined` if its turn is unknown.
   */
  #carries(stream = this.#stream): boolean {
    return stream === this.#stream
  }

  #eventId(): string {
    return `${this.id}_${this.delivered}`
  }
}
