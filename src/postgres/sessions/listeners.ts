/**
 * The connections of one session in this process for messages that belong to no request. Changes are
 * not stored per session: an event id says how far its client knows the log of changes, and the
 * session's own messages.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server
 */
import type { JsonRpcNotification } from '../../protocol/types.ts'
import type { SessionRecord } from '../../session/session.ts'
import type { Sink } from '../../session/event-store.ts'
import type { OutgoingStream } from '../../session/streams.ts'
import { announceTo } from '../../server/features/announce.ts'
import { sessionNotFound } from '../../transport/http/http-error.ts'
import { wellFormedJson } from '../../protocol/well-formed-json.ts'
import { ANYTHING, type ChangeLog, type LoggedChange } from '../changes.ts'
import type { StreamNews } from './stream-table.ts'

/** The stream of messages that belong to no request, of every session. */
export const LISTENING = 'listening'

/** How long to wait before the next attempt when the database cannot be used, in milliseconds. */
const RETRY_MS = 1_000

/** What the connections of a session need. */
export interface ListenersHome {
  readonly record: SessionRecord
  /** Pending while the record is read again. */
  readonly refreshing: Promise<void> | undefined
  readonly changes: ChangeLog
  /** The session's own messages after one. */
  readonly messagesAfter: (seq: number) => Promise<StreamNews>
  /**
   * Makes a connection the newest; returns its number and how many messages the session had, or
   * nothing if it ended.
   */
  readonly claim: () => Promise<{ connection: number; sent: number } | undefined>
  /** Notes that a connection was closed, and how far it came. */
  readonly leave: (connection: number, delivered: string) => void
  readonly report: (error: unknown) => void
}

/** One connection. */
class Listener implements OutgoingStream {
  readonly id = LISTENING
  readonly #home: ListenersHome
  /** Its number; connections with lower ones are silent. */
  number: number | undefined
  /** Whether it receives what comes. */
  active = false
  #sink: Sink | undefined
  #change = 0
  #message = 0
  readonly #queue: LoggedChange[] = []
  #isSending = false

  constructor(home: ListenersHome, delivered: string) {
    this.#home = home
    this.delivered = delivered
  }

  get connected(): boolean {
    return this.#sink?.open === true
  }

  connect(sink: Sink): void {
    this.#sink = sink
  }

  sendEventId(retry?: number): void {
    void this.#sink?.send({ id: this.#eventId(), retry, data: '' })
  }

  // Messages are stored for whichever process has the newest connection
  send(): undefined {
    return undefined
  }

  disconnectFor(): void {}

  close(): void {
    if (this.#sink?.open) this.#sink.close()
  }

  /** How far it came: the last change, and the last of the session's own messages. */
  get delivered(): string {
    return `${this.#change}.${this.#message}`
  }

  /** Goes on where another connection ended. */
  set delivered(place: string) {
    const [change = 0, message = 0] = place.split('.').map(Number)
    this.#change = change
    this.#message = message
  }

  /** Sends a change that was logged. */
  deliver(logged: LoggedChange): void {
    this.#queue.push(logged)
    if (!this.#isSending) this.#sendQueue().catch(this.#home.report)
  }

  /** Sends what it missed of the log, and is active then. */
  async catchUp(): Promise<void> {
    for (;;) {
      const { position } = this.#home.changes
      const { changes, isComplete } = await this.#home.changes.after(this.#change)
      const isMissing = changes.length === 0 && this.#change < position
      if (!isComplete || isMissing) this.#announceAnything(position)
      for (const each of changes) this.#announce(each)
      // What this process has read meanwhile was not delivered, and may be missing in the rows
      if (changes.length === 0 && position === this.#home.changes.position) break
    }
    this.active = true
    await this.readMessages()
  }

  /** Sends the session's own messages that it has not sent. */
  async readMessages(): Promise<void> {
    for (let more = this.active && this.connected; more;) {
      const news = await this.#home.messagesAfter(this.#message)
      for (const { seq, message } of news.events) {
        if (seq <= this.#message) continue
        this.#message = seq
        await this.#sink?.send({ id: this.#eventId(), data: message })
      }
      more = news.more
    }
  }

  async #sendQueue(): Promise<void> {
    this.#isSending = true
    for (let next = this.#queue.shift(); next; next = this.#queue.shift()) {
      // A subscription and a newer connection that were confirmed before the change count
      if (this.#home.refreshing) await this.#home.refreshing
      if (this.active) this.#announce(next)
    }
    this.#isSending = false
  }

  /** Announces whatever may have changed, as the log does not reach back far enough. */
  #announceAnything(id: number): void {
    for (const change of ANYTHING) this.#announce({ id, origin: '', change })
    for (const uri of this.#home.record.subscriptions) {
      const change = { method: 'notifications/resources/updated', uri } as const
      this.#announce({ id, origin: '', change })
    }
  }

  #announce({ id, origin, change }: LoggedChange): void {
    // Without origin it stands for changes that are not known any more
    if (id <= this.#change && origin !== '') return
    this.#change = Math.max(id, this.#change)
    // A copy, as the completion of an elicitation is announced again to a client that resumes
    const record = { ...this.#home.record }
    announceTo({ record }, change, (message: JsonRpcNotification) => {
      void this.#sink?.send({ id: this.#eventId(), data: wellFormedJson(message) })
    })
  }

  #eventId(): string {
    return `${LISTENING}_${this.delivered}`
  }
}

/** The newest connection of all processes. */
export interface ListenerNews {
  /** The process that has it; none after it was closed. */
  readonly listener: string | null
  /** Its number. */
  readonly connection: number
  /** How far the last one came that was closed. */
  readonly delivered: string | null
}

/** The connections of one session in this process, of which the newest receives everything. */
export class Listeners {
  readonly #home: ListenersHome
  readonly #all = new Set<Listener>()
  readonly #activating = new Set<Listener>()
  #opening = 0

  constructor(home: ListenersHome) {
    this.#home = home
  }

  get connected(): boolean {
    return [...this.#all].some(({ connected }) => connected)
  }

  /** Whether there is a connection, or will be one. */
  get busy(): boolean {
    return this.#opening > 0 || this.#all.size > 0
  }

  /** Opens a connection from now on. */
  async open(): Promise<OutgoingStream> {
    this.#opening++
    try {
      const claimed = await this.#home.claim()
      if (!claimed) throw sessionNotFound()
      const place = `${this.#home.changes.position}.${claimed.sent}`
      const listener = new Listener(this.#home, place)
      this.#all.add(listener)
      this.#setNewest(listener, claimed.connection)
      listener.active = true
      return listener
    } finally {
      this.#opening--
    }
  }

  /** Connects a client that knows everything up to a place. */
  resume(after: string, sink: Sink): void {
    const listener = new Listener(this.#home, after)
    listener.connect(sink)
    this.#all.add(listener)
    this.#activate(listener)
  }

  /** Delivers a change to the newest connection. */
  deliver(logged: LoggedChange): void {
    for (const listener of this.#all) if (listener.active) listener.deliver(logged)
  }

  /** Takes note of the newest connection of all processes, and reads the session's own messages. */
  wake({ listener, connection, delivered }: ListenerNews): void {
    for (const each of this.#all) {
      if (each.number !== undefined && each.number !== connection) each.active = false
    }
    const newest = this.#newest()
    if (!newest?.connected) return
    if (newest.active) void newest.readMessages().catch(this.#home.report)
    else if (listener === null && newest.number !== undefined) {
      if (delivered !== null) newest.delivered = delivered
      this.#activate(newest)
    }
  }

  /** Forgets the connections that their clients closed. */
  sweep(): void {
    for (const listener of this.#all) {
      if (listener.connected) continue
      this.#all.delete(listener)
      if (listener.number !== undefined) this.#home.leave(listener.number, listener.delivered)
    }
  }

  /** Sends the changes that were published until now. */
  async drain(): Promise<void> {
    for (const listener of this.#all) {
      if (listener.active) await listener.catchUp().catch(this.#home.report)
    }
  }

  close(): void {
    for (const listener of this.#all) listener.close()
    this.sweep()
  }

  #newest(): Listener | undefined {
    const numbered = [...this.#all].filter(({ connected }) => connected)
    return numbered.toSorted((a, b) => (a.number ?? 0) - (b.number ?? 0)).at(-1)
  }

  async #claim(listener: Listener): Promise<void> {
    const claimed = await this.#home.claim()
    if (claimed) this.#setNewest(listener, claimed.connection)
    else listener.close()
  }

  #setNewest(listener: Listener, connection: number): void {
    for (const other of this.#all) if (other !== listener) other.active = false
    listener.number = connection
  }

  /** Makes a connection the newest, and sends what it missed. */
  #activate(listener: Listener): void {
    if (this.#activating.has(listener)) return
    this.#activating.add(listener)
    void this.#tryToActivate(listener).finally(() => this.#activating.delete(listener))
  }

  /** Tries until the database can be used, or the client is gone. */
  async #tryToActivate(listener: Listener): Promise<void> {
    while (listener.connected) {
      try {
        await this.#claim(listener)
        return await listener.catchUp()
      } catch (error) {
        this.#home.report(error)
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
      }
    }
  }
}
