/**
 * Writes what the calls of this process send and do, in batches and in order: while one batch is
 * written, the next one gathers.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
import { backoffMs } from '../../patterns/backoff.ts'
import { UnavailableError } from '../unavailable.ts'
import { keyOf } from './batch.ts'
import type { StreamTable } from './stream-table.ts'

/** The maximum number of characters of one batch, unless a single message is longer. */
const MAX_BATCH = 4 * 1024 * 1024

/** The maximum number of characters that wait for a database that cannot be used. */
const MAX_WAITING = 64 * 1024 * 1024

/** A stream of this process, as it is stored. */
export interface WrittenStream {
  readonly session: string
  readonly id: string
  /** The id of its request, as JSON. */
  readonly request: string | null
  /** What another process needs to run its call again. */
  readonly callText: string | null
  /** The ids of the questions that were asked on it. */
  readonly questions: readonly number[]
  /** Whether another process has its client, and is woken by each event. */
  readonly followed: boolean
  /** Notes that another process has taken it over. */
  lose(): void
}

/** A request without a stream that takes longer than others. */
export interface LongRequest {
  readonly session: string
  /** Its id as JSON. */
  readonly request: string
  /** Called if another process is answering a request with that id. */
  refuse(): void
}

interface PendingEvent {
  readonly stream: WrittenStream
  readonly seq: number
  readonly message: string
}

/** What waits to be written. */
class Pending {
  streams = new Map<WrittenStream, 'opened' | 'saved' | 'ended'>()
  events: PendingEvent[] = []
  begun = new Set<LongRequest>()
  answered = new Set<LongRequest>()
  /** Answers of the client that were used: the session and the question of each. */
  taken: (readonly [session: string, question: number])[] = []
  waiters: { resolve: () => void; reject: (error: unknown) => void }[] = []

  /** How much there is to write. */
  get count(): number {
    const { streams, events, begun, answered, taken } = this
    return streams.size + events.length + begun.size + answered.size + taken.length
  }
}

/** The writes of one process. */
export class StreamWriter {
  readonly #table: StreamTable
  readonly #report: (error: unknown) => void
  #pending = new Pending()
  #size = 0
  #writing: Promise<void> | undefined
  readonly #trims = new Map<WrittenStream, number>()
  #running = false

  constructor(table: StreamTable, report: (error: unknown) => void) {
    this.#table = table
    this.#report = report
  }

  /** Adds a stream that was opened. */
  open(stream: WrittenStream): void {
    this.#pending.streams.set(stream, 'opened')
    this.#start()
  }

  /** Stores what changed of the call of a stream. */
  save(stream: WrittenStream): void {
    const { streams } = this.#pending
    if (!streams.has(stream)) streams.set(stream, 'saved')
    this.#start()
  }

  /** Removes a stream that ended. Its events remain. */
  end(stream: WrittenStream): void {
    const { streams } = this.#pending
    // One that was not stored need not be removed
    if (streams.get(stream) === 'opened') streams.delete(stream)
    else streams.set(stream, 'ended')
    this.#start()
  }

  /** Adds an event of a stream. */
  event(stream: WrittenStream, seq: number, message: string): void {
    this.#pending.events.push({ stream, seq, message })
    this.#size += message.length
    while (this.#size > MAX_WAITING && this.#drop()) {}
    this.#start()
  }

  /** Deletes the events of a stream up to one that was added. */
  trim(stream: WrittenStream, seq: number): void {
    this.#trims.set(stream, seq)
  }

  /** Lets other processes know that a request is being answered. */
  begin(request: LongRequest): void {
    this.#pending.begun.add(request)
    this.#start()
  }

  /** Notes that such a request was answered. */
  finish(request: LongRequest): void {
    const { begun, answered } = this.#pending
    if (!begun.delete(request)) answered.add(request)
    this.#start()
  }

  /** Deletes an answer of the client that was used, with or after the call that was saved before. */
  take(session: string, question: number): void {
    this.#pending.taken.push([session, question])
    this.#start()
  }

  /**
   * Resolves when all that was added before has been written.
   *
   * @throws {UnavailableError} If the database cannot be used; it is tried again later.
   */
  flush(): Promise<void> {
    if (this.#pending.count === 0) return this.#writing ?? Promise.resolve()
    this.#start()
    return new Promise((resolve, reject) => this.#pending.waiters.push({ resolve, reject }))
  }

  #start(): void {
    if (this.#running) return
    this.#running = true
    // What is added in the same turn belongs to the same batch
    queueMicrotask(() => void this.#run())
  }

  async #run(): Promise<void> {
    let failures = 0
    while (this.#pending.count > 0 || this.#pending.waiters.length > 0) {
      const batch = this.#take()
      try {
        this.#writing = this.#write(batch)
        await this.#writing
        failures = 0
        for (const { resolve } of batch.waiters) resolve()
      } catch (error) {
        for (const { reject } of batch.waiters) reject(error)
        if (error instanceof UnavailableError) {
          this.#restore(batch)
          const delayMs = backoffMs(failures++, 100, 2_000)
          await new Promise((resolve) => setTimeout(resolve, delayMs))
        } else this.#report(error)
      } finally {
        this.#writing = undefined
      }
    }
    this.#running = false
    void this.#trimAll()
  }

  /** Takes as much of what is pending as fits into one batch. */
  #take(): Pending {
    const batch = this.#pending
    const rest = (this.#pending = new Pending())
    let size = 0
    const cut = batch.events.findIndex(({ message }) => (size += message.length) > MAX_BATCH)
    if (cut > 0) {
      rest.events = batch.events.splice(cut)
      rest.waiters = batch.waiters.splice(0)
      // A stream ends after its last event
      for (const { stream } of rest.events) {
        if (batch.streams.get(stream) === 'ended') {
          batch.streams.delete(stream)
          rest.streams.set(stream, 'ended')
        }
      }
    }
    for (const { message } of batch.events) this.#size -= message.length
    return batch
  }

  /** Puts a batch that could not be written before what was added meanwhile. */
  #restore(batch: Pending): void {
    const later = this.#pending
    for (const [stream, state] of later.streams) {
      const before = batch.streams.get(stream)
      if (before !== 'opened') batch.streams.set(stream, state)
      else if (state === 'ended') batch.streams.delete(stream)
    }
    for (const request of later.answered) {
      if (!batch.begun.delete(request)) batch.answered.add(request)
    }
    for (const request of later.begun) batch.begun.add(request)
    for (const { message } of batch.events) this.#size += message.length
    batch.events.push(...later.events)
    batch.taken.push(...later.taken)
    batch.waiters = later.waiters
    this.#pending = batch
  }

  async #write(batch: Pending): Promise<void> {
    const states = [...batch.streams]
    const inState = (wanted: string): WrittenStream[] =>
      states.flatMap(([stream, state]) => (state === wanted ? [stream] : []))
    const saved = inState('saved')
    const ended = inState('ended')
    const woken = new Set<string>()
    for (const { stream } of batch.events) if (stream.followed) woken.add(stream.session)
    for (const stream of ended) if (stream.followed) woken.add(stream.session)
    const refused = await this.#table.write({
      opened: inState('opened').map((stream) => {
        return [stream.session, stream.id, stream.request, stream.callText]
      }),
      saved: saved.map((stream) => [stream.session, stream.id, stream.callText]),
      ended: ended.map((stream) => [stream.session, stream.id, stream.questions]),
      events: batch.events.map(({ stream, seq, message }) => {
        return [stream.session, stream.id, seq, message]
      }),
      begun: [...batch.begun].map(({ session, request }) => [session, request]),
      answered: [...batch.answered].map(({ session, request }) => [session, request]),
      taken: batch.taken,
      woken: [...woken],
    })
    for (const stream of saved) {
      if (refused.streams.has(keyOf(stream.session, stream.id))) stream.lose()
    }
    for (const begun of batch.begun) {
      if (refused.requests.has(keyOf(begun.session, begun.request))) begun.refuse()
    }
  }

  /** Drops the oldest event that waits; the client can no longer resume before it. */
  #drop(): boolean {
    const { events } = this.#pending
    const at = events.findIndex(({ message }) => message !== '')
    const dropped = events[at]
    if (!dropped) return false
    this.#size -= dropped.message.length
    events.splice(at, 1)
    this.trim(dropped.stream, dropped.seq)
    return true
  }

  async #trimAll(): Promise<void> {
    for (const [stream, seq] of this.#trims) {
      this.#trims.delete(stream)
      await this.#table.trim(stream.session, stream.id, seq).catch(this.#report)
    }
  }
}
