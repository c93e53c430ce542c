/**
 * The streams of one session that this process writes, or whose client is connected to this process.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
import { ignore } from '../../patterns/hooks.ts'
import type { JsonRpcMessage } from '../../protocol/types.ts'
import { wellFormedJson } from '../../protocol/well-formed-json.ts'
import type { MissedEvents, ResumableCall, Sink } from '../../session/event-store.ts'
import type { OutgoingStream, Streams } from '../../session/streams.ts'
import { CallStream } from './call-stream.ts'
import { Follower, type FollowerSession } from './follower.ts'
import { listeningNumber } from './listener.ts'
import type { Listeners } from './listeners.ts'
import type { StreamTable } from './stream-table.ts'
import type { StreamWriter } from './writer.ts'

/**
 * How many event numbers are skipped when a stream is taken over. The previous process cannot have sent as
 * many events without storing them, so no number is used twice.
 */
const SEQ_ADVANCE = 1_000_000

/** The options of the streams of a session. */
export interface SharedStreamsOptions extends Pick<
  FollowerSession,
  'processId' | 'report' | 'takeOver'
> {
  readonly session: string
  readonly resumable: boolean
  readonly table: StreamTable
  readonly writer: StreamWriter
  readonly listeners: Listeners
  /** Stores a message that belongs to no request. */
  readonly storeMessage: (message: string) => void
  /** Called with the id of each request to the client. */
  readonly onServerRequest: (id: number) => void
  /** Called when another process has taken over a stream. */
  readonly onLost: (stream: CallStream) => void
  /** Called when a stream or a follower was closed. */
  readonly onClosed: () => void
}

/** The position from which a client resumes. The missed events are read later, by a follower or a listener. */
class Resumption implements MissedEvents {
  readonly stream: string
  readonly events = []
  readonly after: string

  constructor(stream: string, after: string) {
    this.stream = stream
    this.after = after
  }
}

/** The streams of a session that several processes serve. */
export class SharedStreams implements Streams {
  readonly #options: SharedStreamsOptions
  readonly #open = new Map<string, CallStream>()
  readonly #calls = new Map<ResumableCall, CallStream>()
  /** One for each client that has resumed a stream of a call on this process. */
  readonly #followers = new Set<Follower>()

  constructor(options: SharedStreamsOptions) {
    this.#options = options
  }

  /** Always empty: calls of ended processes are not restored, but taken over one by one. */
  get calls(): ReadonlyMap<ResumableCall, OutgoingStream> {
    return new Map()
  }

  get connected(): boolean {
    const connections = [...this.#open.values(), ...this.#followers, this.#options.listeners]
    return connections.some(({ connected }) => connected)
  }

  /** Whether this process must be notified of what happens in the session. */
  get busy(): boolean {
    return this.#open.size > 0 || this.#followers.size > 0 || this.#options.listeners.busy
  }

  /**
   * Returns the stream of a call that this process handles.
   *
   * @param idText The id of the call, as JSON.
   */
  streamOf(idText: string): CallStream | undefined {
    return [...this.#open.values()].find((stream) => stream.request === idText)
  }

  open(call?: ResumableCall): CallStream {
    const stream = this.#add(crypto.randomUUID().slice(0, 8), call)
    this.#options.writer.open(stream)
    return stream
  }

  /** Adds a stream that this process has taken over. */
  adopt(id: string, call: ResumableCall | undefined, seq: number): CallStream {
    return this.#add(id, call, seq + SEQ_ADVANCE)
  }

  openStandalone(): Promise<OutgoingStream> {
    return this.#options.listeners.open()
  }

  saveCall(call: ResumableCall): void | Promise<void> {
    const stream = this.#calls.get(call)
    if (!stream || !this.#options.resumable) return undefined
    stream.save()
    // The saved call contains the answers, so they no longer need to be stored separately
    for (const requestId of stream.answeredRequests) {
      if (requestId in call.unanswered) continue
      stream.answeredRequests.delete(requestId)
      this.#options.writer.deleteAnswer(this.#options.session, requestId)
    }
    const saved = this.#options.writer.flush()
    // Not every caller waits for the returned promise, so its rejection must not count as unhandled
    saved.catch(ignore)
    return saved
  }

  /**
   * Deletes the client's answer to a request from the table of answers. If a resumable call sent the request, the
   * answer is deleted later, when the call has been stored with the answer.
   */
  deleteAnswer(requestId: number): void {
    const { session, resumable, writer } = this.#options
    const resumableStream =
      resumable &&
      [...this.#open.values()].find((stream) => stream.serverRequests.includes(requestId))
    if (resumableStream) resumableStream.answeredRequests.add(requestId)
    else writer.deleteAnswer(session, requestId)
  }

  end(stream: OutgoingStream): void {
    const openStream = this.#open.get(stream.id)
    if (!openStream) return
    openStream.end()
    this.#forget(openStream)
  }

  announce(message: JsonRpcMessage): void {
    if ('id' in message && typeof message.id === 'number' && 'method' in message) {
      this.#options.onServerRequest(message.id)
    }
    this.#options.storeMessage(wellFormedJson(message))
  }

  async findMissed(eventId: string): Promise<MissedEvents | undefined> {
    const streamEnd = eventId.lastIndexOf('_')
    const stream = eventId.slice(0, streamEnd)
    const after = eventId.slice(streamEnd + 1)
    if (listeningNumber(stream) !== undefined) {
      return /^\d{1,15}\.\d{1,15}$/.test(after) ? new Resumption(stream, after) : undefined
    }
    if (!/^\d{1,15}$/.test(after) || !/^[\w-]{1,64}$/.test(stream)) return undefined
    const { table, writer, session } = this.#options
    // Events that the client has received from this process may not be written yet
    if (this.#open.has(stream)) await writer.flush()
    const isClaimed = await table.claim(session, stream, Number(after))
    return isClaimed ? new Resumption(stream, after) : undefined
  }

  resume(missed: MissedEvents, sink: Sink, lastEventId: string | null): void {
    if (!(missed instanceof Resumption)) return
    // Sent again for clients that store only the ids of their latest connection
    if (lastEventId !== null) void sink.send({ id: lastEventId, data: '' })
    const { stream } = missed
    const listeningStream = listeningNumber(stream)
    if (listeningStream === undefined) this.#follow(stream, Number(missed.after), sink)
    else this.#options.listeners.resume(listeningStream, missed.after, sink)
  }

  /**
   * Disconnects the clients that have connected to another process, and lets the followers read new events.
   *
   * @param readers The processes to which the clients are connected, by the ids of the streams.
   */
  wake(readers: ReadonlyMap<string, string>): void {
    for (const stream of this.#open.values()) {
      const reader = readers.get(stream.id)
      if (reader === undefined) continue
      stream.hasOtherReader = reader !== this.#options.processId
      if (stream.hasOtherReader) stream.disconnect()
    }
    for (const follower of this.#followers) follower.wake()
  }

  /** Closes all connections, and leaves the streams to other processes. */
  release(): void {
    for (const stream of this.#open.values()) stream.abandon()
    for (const follower of this.#followers) follower.stop()
    this.#options.listeners.close()
  }

  /** Closes all connections, and ends the streams, because the session has ended. */
  close(): void {
    for (const stream of this.#open.values()) this.end(stream)
    for (const follower of this.#followers) follower.stop()
    this.#options.listeners.close()
  }

  /**
   * Creates a stream that this process writes.
   *
   * @param seq The number after which the next event is numbered, if another process wrote the stream before.
   */
  #add(id: string, call: ResumableCall | undefined, seq?: number): CallStream {
    const { session, resumable, writer, onServerRequest, onLost } = this.#options
    const stream = new CallStream({
      session,
      id,
      call,
      ...(seq !== undefined && { seq }),
      resumable,
      writer,
      onServerRequest,
      onLost: (lostStream) => {
        onLost(lostStream)
        this.#forget(lostStream)
      },
    })
    this.#open.set(id, stream)
    if (call) this.#calls.set(call, stream)
    return stream
  }

  #forget(stream: CallStream): void {
    this.#open.delete(stream.id)
    if (stream.call) this.#calls.delete(stream.call)
    this.#options.onClosed()
  }

  /** Sends a client the events after a sequence number, whichever process writes them. */
  #follow(stream: string, seq: number, sink: Sink): void {
    const { table, session, processId, report, takeOver, onClosed } = this.#options
    const followerSession: FollowerSession = {
      processId,
      report,
      takeOver,
      findLocal: (id) => this.#open.get(id),
      read: (id, after) => table.read(session, id, after),
    }
    const follower = new Follower(followerSession, stream, seq, sink)
    this.#followers.add(follower)
    void follower.run().finally(() => {
      this.#followers.delete(follower)
      onClosed()
    })
  }
}
