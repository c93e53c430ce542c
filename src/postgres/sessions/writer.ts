/**
 * Writes the events and the state of the calls of this process, in batches and in order. While one batch is
 * being written, further writes are collected for the next one.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
import { backoffMs } from '../../patterns/backoff.ts'
import { UnavailableError } from '../unavailable.ts'
import { keyOf } from './batch.ts'
import type { StreamTable } from './stream-table.ts'

/** The maximum number of characters in one batch, unless a single message is longer. */
const MAX_BATCH_CHARACTERS = 4 * 1024 * 1024

/** The maximum number of characters that wait for a database that cannot be used. */
const MAX_WAITING_CHARACTERS = 64 * 1024 * 1024

/** The stored properties of a stream of this process. */
export interface WrittenStream {
  readonly session: string
  readonly id: string
  /** The id of the stream's request, as JSON. */
  readonly request: string | null
  /** The call as JSON, with which another process can run it again. */
  readonly callText: string | null
  /** The ids of the requests to the client that were sent on the stream. */
  readonly serverRequests: readonly number[]
  /** Whether the client is connected to another process, which is notified of each event. */
  readonly hasOtherReader: boolean
  /** Called when another process has taken over the stream. */
  lose(): void
}

/** A request without a stream that has been running for a while. */
export interface LongRequest {
  readonly session: string
  /** The id of the request, as JSON. */
  readonly idText: string
  /** Called if another process is handling a request with the same id. */
  refuse(): void
}

interface PendingEvent {
  readonly stream: WrittenStream
  readonly seq: number
  readonly message: string
}

/** The writes that are pending. `Writes` in `batch.ts` describes them. */
class PendingWrites {
  /** The streams to write, each with what last happened to it. */
  streams = new Map<WrittenStream, 'opened' | 'saved' | 'ended'>()
  events: PendingEvent[] = []
  begun = new Set<LongRequest>()
  finished = new Set<LongRequest>()
  /**
   * Answers of the client that a handler has received: the session, and the id of the request to
   * the client.
   */
  usedAnswers: (readonly [session: string, requestId: number])[] = []
  /** The functions that settle the promises of the waiting calls of `flush`. */
  waiters: { resolve: () => void; reject: (error: unknown) => void }[] = []

  /** The number of pending writes. */
  get count(): number {
    const { streams, events, begun, finished, usedAnswers } = this
    return streams.size + events.length + begun.size + finished.size + usedAnswers.length
  }
}

/** The writes of one process. */
export class StreamWriter {
  readonly #table: StreamTable
  readonly #report: (error: unknown) => void
  #pending = new PendingWrites()
  /** The number of characters of the pending events. */
  #size = 0
  /** The write of the current batch. */
  #writing: Promise<void> | undefined
  /** The streams whose oldest events must be deleted, with the number of the last event to delete. */
  readonly #trims = new Map<WrittenStream, number>()
  #isRunning = false

  constructor(table: StreamTable, report: (error: unknown) => void) {
    this.#table = table
    this.#report = report
  }

  /** Adds a stream that was opened. */
  open(stream: WrittenStream): void {
    this.#pending.streams.set(stream, 'opened')
    this.#start()
  }

  /** Stores the changed call of a stream. */
  save(stream: WrittenStream): void {
    const { streams } = this.#pending
    if (!streams.has(stream)) streams.set(stream, 'saved')
    this.#start()
  }

  /** Removes a stream that ended. Its events remain. */
  end(stream: WrittenStream): void {
    const { streams } = this.#pending
    // A stream that was not stored yet need not be removed
    if (streams.get(stream) === 'opened') streams.delete(stream)
    else streams.set(stream, 'ended')
    this.#start()
  }

  /** Adds an event of a stream. */
  addEvent(stream: WrittenStream, seq: number, message: string): void {
    this.#pending.events.push({ stream, seq, message })
    this.#size += message.length
    while (this.#size > MAX_WAITING_CHARACTERS) if (!this.#dropOldest()) break
    this.#start()
  }

  /** Deletes the events of a stream up to the given event, after all pending writes. */
  trim(stream: WrittenStream, seq: number): void {
    this.#trims.set(stream, seq)
  }

  /** Stores that a request is being handled, so that other processes know it. */
  begin(request: LongRequest): void {
    this.#pending.begun.add(request)
    this.#start()
  }

  /** Removes a request that {@link begin} stored, because it was answered. */
  finish(request: LongRequest): void {
    const { begun, finished } = this.#pending
    // A request that was not stored yet need not be removed
    if (!begun.delete(request)) finished.add(request)
    this.#start()
  }

  /**
   * Deletes an answer of the client that a handler has received. A call that was saved before is written no later
   * than the answer is deleted.
   */
  deleteAnswer(session: string, requestId: number): void {
    this.#pending.usedAnswers.push([session, requestId])
    this.#start()
  }

  /**
   * Resolves when all earlier writes have completed.
   *
   * @throws {UnavailableError} If the database cannot be used. The writes are tried again later.
   */
  flush(): Promise<void> {
    if (this.#pending.count === 0) return this.#writing ?? Promise.resolve()
    this.#start()
    return new Promise((resolve, reject) => this.#pending.waiters.push({ resolve, reject }))
  }

  #start(): void {
    if (this.#isRunning) return
    this.#isRunning = true
    // Writes of the same tick belong to the same batch
    queueMicrotask(() => void this.#run())
  }

  /** Writes one batch after the other until nothing is pending. */
  async #run(): Promise<void> {
    let failures = 0
    while (this.#pending.count > 0 || this.#pending.waiters.length > 0) {
      const batch = this.#takeBatch()
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
    this.#isRunning = false
    void this.#trimAll()
  }

  /** Takes as many pending writes as fit into one batch. */
  #takeBatch(): PendingWrites {
    const batch = this.#pending
    const later = new PendingWrites()
    this.#pending = later
    let size = 0
    const firstExcess = batch.events.findIndex(({ message }) => {
      size += message.length
      return size > MAX_BATCH_CHARACTERS
    })
    if (firstExcess > 0) {
      later.events = batch.events.splice(firstExcess)
      // The waiters wait for all writes, including those of the later batch
      later.waiters = batch.waiters.splice(0)
      // The end of a stream must be written after its last event
      for (const { stream } of later.events) {
        if (batch.streams.get(stream) === 'ended') {
          batch.streams.delete(stream)
          later.streams.set(stream, 'ended')
        }
      }
    }
    for (const { message } of batch.events) this.#size -= message.length
    return batch
  }

  /** Puts a batch that could not be written in front of the writes that were added in the meantime. */
  #restore(batch: PendingWrites): void {
    const later = this.#pending
    for (const [stream, state] of later.streams) {
      const before = batch.streams.get(stream)
      // A stream that is not stored yet is written with its current call. So a later save needs no write of its own,
      // and a later end means that nothing is written
      if (before !== 'opened') batch.streams.set(stream, state)
      else if (state === 'ended') batch.streams.delete(stream)
    }
    for (const request of later.finished) {
      if (!batch.begun.delete(request)) batch.finished.add(request)
    }
    for (const request of later.begun) batch.begun.add(request)
    for (const { message } of batch.events) this.#size += message.length
    batch.events.push(...later.events)
    batch.usedAnswers.push(...later.usedAnswers)
    batch.waiters = later.waiters
    this.#pending = batch
  }

  /** Writes a batch. Informs the streams and requests whose writes had no effect. */
  async #write(batch: PendingWrites): Promise<void> {
    const states = [...batch.streams]
    const inState = (wanted: 'opened' | 'saved' | 'ended'): WrittenStream[] =>
      states.flatMap(([stream, state]) => (state === wanted ? [stream] : []))
    const saved = inState('saved')
    const ended = inState('ended')
    const woken = new Set<string>()
    for (const { stream } of batch.events) if (stream.hasOtherReader) woken.add(stream.session)
    for (const stream of ended) if (stream.hasOtherReader) woken.add(stream.session)
    const refused = await this.#table.write({
      opened: inState('opened').map((stream) => {
        return [stream.session, stream.id, stream.request, stream.callText]
      }),
      saved: saved.map((stream) => [stream.session, stream.id, stream.callText]),
      ended: ended.map((stream) => [stream.session, stream.id, stream.serverRequests]),
      events: batch.events.map(({ stream, seq, message }) => {
        return [stream.session, stream.id, seq, message]
      }),
      begun: [...batch.begun].map(({ session, idText }) => [session, idText]),
      finished: [...batch.finished].map(({ session, idText }) => [session, idText]),
      usedAnswers: batch.usedAnswers,
      woken: [...woken],
    })
    for (const stream of saved) {
      if (refused.streams.has(keyOf(stream.session, stream.id))) stream.lose()
    }
    for (const begun of batch.begun) {
      if (refused.requests.has(keyOf(begun.session, begun.idText))) begun.refuse()
    }
  }

  /**
   * Drops the oldest pending event, and returns whether there was one. The client can then no longer resume
   * from an earlier event.
   */
  #dropOldest(): boolean {
    const dropped = this.#pending.events.shift()
    if (!dropped) return false
    this.#size -= dropped.message.length
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
