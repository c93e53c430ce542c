/**
 * A live session: this process handles requests in it, or has a connection of its client.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import { SdkError, toErrorObject } from '../../protocol/errors.ts'
import { errorResponse } from '../../protocol/jsonrpc.ts'
import type { JsonRpcRequest, JsonRpcResponse, RequestId } from '../../protocol/types.ts'
import type { Caller } from '../../server/request/exchange.ts'
import type { Sink } from '../../session/event-store.ts'
import type { SessionOperations } from '../../session/pool.ts'
import { resumableCalls } from '../../session/resumable-calls.ts'
import { idInUse, Session, topicsOf } from '../../session/session.ts'
import type { IncomingRequest } from '../../transport/streamable-http/incoming.ts'
import type { HandlerHooks } from '../../transport/streamable-http/options.ts'
import {
  StatefulSession,
  streamInBody,
  type MessageTarget,
} from '../../transport/streamable-http/sessions/stateful-session.ts'
import type { CallStream } from './call-stream.ts'
import { LISTENING } from './listener.ts'
import { Listeners } from './listeners.ts'
import type { ProcessParts, RunningRequest } from './parts.ts'
import { SharedRecord, type StoredRecord } from './record.ts'
import { ServerRequests } from './server-requests.ts'
import { SharedStreams } from './streams.ts'
import { ID_BLOCK } from './table.ts'
import { takeOver } from './take-over.ts'

/** How long to wait before rows are read again after an error, in milliseconds. */
const RETRY_MS = 500

/** One session in this process. */
export class LiveSession {
  readonly id: string
  readonly http: StatefulSession
  readonly streams: SharedStreams
  readonly listeners: Listeners
  readonly serverRequests: ServerRequests
  readonly #parts: ProcessParts
  readonly #record: SharedRecord
  readonly #session: Session
  /** The caller of each connection. A call is taken over with the rights of the caller that resumes its stream. */
  readonly #callers = new WeakMap<Sink, Caller>()
  /** The ids of requests that are cancelled because another process handles a request with the same id. */
  readonly #refused = new Set<RequestId>()
  /** Pending while the rows of the session are being read. */
  #refreshing: Promise<void> | undefined
  #isStale = false
  /** Whether the database may have been restored from a backup. */
  #mayBeRestored = false
  /** How many requests and other operations are running. */
  #runningCount = 0
  /** Resolves once every message so far that belongs to no request has been stored. */
  #messagesStored: Promise<void> = Promise.resolve()

  constructor(parts: ProcessParts, id: string, stored: StoredRecord) {
    this.id = id
    this.#parts = parts
    const { sessionTable, listenerTable, writer, changes, endpoint, report } = parts
    this.#record = new SharedRecord(sessionTable, id, stored, () => parts.liveSessions.update(this))
    const record = this.#record.current
    this.#session = new Session(record)
    this.serverRequests = new ServerRequests(this.#session, (requestId) =>
      this.streams.deleteAnswer(requestId),
    )
    this.listeners = new Listeners({
      record,
      refreshing: () => this.#refreshing,
      changes,
      messagesAfter: (seq) => parts.streamTable.read(id, LISTENING, seq),
      // A turn is the period in which one stream carries the messages that belong to no request
      claim: async (turn) => {
        const claimed = await listenerTable.claim(id, turn)
        if (claimed) this.#record.refresh(claimed)
        return claimed
      },
      observe: (send) => {
        const { principal } = record
        // What an observer of the server learns about the notifications
        const facts = { caller: { principal }, revision: this.http.revision, http: true }
        return endpoint.server.observe?.notify(send, facts) ?? send
      },
      recordClosed: (connection, delivered) => {
        void listenerTable.recordClosed(id, connection, delivered).catch(report)
      },
      report,
    })
    this.streams = new SharedStreams({
      session: id,
      processId: parts.processId,
      report,
      resumable: parts.resumable,
      table: parts.streamTable,
      writer,
      listeners: this.listeners,
      storeMessage: (message) => this.#storeMessage(message),
      onServerRequest: (requestId) => this.serverRequests.add(requestId),
      onLost: (stream) => this.#cancelCallOf(stream),
      onClosed: () => parts.settle(this),
      takeOver: (stream, sink) => this.takeOver(stream, this.#callers.get(sink) ?? {}),
    })
    const connectStream: HandlerHooks['connectStream'] = (stream, options) => {
      const connected = streamInBody(stream, {
        ...options,
        onDisconnect: () => this.#onDisconnect(),
      })
      if (options.caller) this.#callers.set(connected.sink, options.caller)
      return connected
    }
    const hooks = { ...endpoint.hooks, connectStream }
    // `calls` is always passed: it has no effect unless `parts.resumable` makes `SharedStreams` store calls
    this.http = new StatefulSession(
      { endpoint: { ...endpoint, hooks }, pool: this.#operations(), calls: resumableCalls },
      { id, session: this.#session, streams: this.streams },
    )
  }

  /** Whether this process must be notified of what happens in the session. */
  get busy(): boolean {
    return this.#runningCount > 0 || this.streams.busy || this.#session.awaitsResponse
  }

  /** The topics of the changes that concern the session. */
  get topics(): string[] {
    return topicsOf(this.#record.current)
  }

  /** Updates the session with the stored record. */
  refresh(stored: StoredRecord): void {
    this.#record.refresh(stored)
  }

  /** Answers a request. */
  async handle(
    message: JsonRpcRequest,
    reply: MessageTarget,
    caller: Caller,
  ): Promise<JsonRpcResponse | undefined> {
    const { id } = message
    const running: RunningRequest = {
      session: this.id,
      idText: JSON.stringify(id),
      startedAt: performance.now(),
      isStored: false,
      refuse: () => {
        const cancellation = this.#session.inFlight.get(id)
        if (cancellation) this.#refused.add(id)
        cancellation?.cancel(idInUse(id))
      },
    }
    this.#runningCount++
    const hasStream = (): boolean => this.streams.streamOf(running.idText) !== undefined
    this.#parts.begin(running, hasStream)
    try {
      const answer = await this.http.handle(message, reply, caller)
      return this.#refused.delete(id) ? errorResponse(id, toErrorObject(idInUse(id))) : answer
    } finally {
      this.#runningCount--
      this.#parts.finish(running)
      this.#parts.settle(this)
    }
  }

  /** Runs `work`. The session stays live until `work` has settled. */
  async stayLiveDuring<T>(work: () => Promise<T>): Promise<T> {
    this.#runningCount++
    try {
      return await work()
    } finally {
      this.#runningCount--
      this.#parts.settle(this)
    }
  }

  /** Opens or resumes a stream. */
  listen(incoming: IncomingRequest): Promise<Response> {
    return this.stayLiveDuring(() => this.http.listen(incoming))
  }

  /** Cancels a request that this process handles. */
  cancel(request: unknown, reason: unknown): void {
    this.#session.cancelRequest(request, reason)
  }

  /** Reads the rows that other processes may have changed. */
  wake(): Promise<void> {
    this.#isStale = true
    this.#parts.liveSessions.markStale(this)
    this.#refreshing ??= this.#read().finally(() => {
      this.#refreshing = undefined
      this.#parts.liveSessions.markFresh(this)
      this.#parts.settle(this)
    })
    return this.#refreshing
  }

  /** Reads the rows again, because notifications may be lost, or a backup may have been restored. */
  resync(): void {
    this.#mayBeRestored = true
    void this.wake()
  }

  /** Ends the requests, streams and connections in this process, because the session has ended. */
  close(): void {
    this.#session.close()
    this.streams.close()
  }

  /** Closes all connections and leaves the session to other processes, because this process stops. */
  release(): void {
    this.streams.release()
    this.#session.close()
  }

  /** Takes over a stream whose process has ended, unless its call waits for answers of the client. */
  takeOver(stream: string, caller: Caller): Promise<void> {
    return takeOver(this, this.#parts, stream, caller)
  }

  /** Cancels the call of a stream that another process has taken over. */
  #cancelCallOf({ call }: CallStream): void {
    const error = new SdkError('CLOSED', 'Another process took over the call')
    if (call) this.#session.inFlight.get(call.request.id)?.cancel(error)
  }

  /** Reads the rows, and reads them again if they have changed in the meantime. */
  async #read(): Promise<void> {
    while (this.#isStale) {
      this.#isStale = false
      try {
        const rows = await this.#parts.sessionTable.readLive(this.id, this.serverRequests.ids)
        if (!rows) return this.#parts.endDeleted(this)
        if (this.#mayBeRestored) this.listeners.goBackTo(rows.sent)
        this.#mayBeRestored = false
        this.#record.refresh(rows)
        for (const answer of rows.answers) this.serverRequests.receiveStored(answer)
        const readers = new Map(rows.streams.map(({ id, reader }) => [id, reader]))
        this.listeners.wake(rows)
        this.streams.wake(readers)
      } catch (error) {
        this.#parts.report(error)
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
        // Tries again only if the session is still busy. Otherwise its rows are not needed
        this.#isStale = this.busy
      }
    }
  }

  /** Called when a client has closed a connection. */
  #onDisconnect(): void {
    this.listeners.removeClosed()
    // Wakes the followers in `streams`, so that the follower of the closed connection ends. The map is empty, because
    // no stream has a new reader
    this.streams.wake(new Map())
    this.#parts.settle(this)
  }

  /** Stores a message that belongs to no request, after all earlier messages of this kind. */
  #storeMessage(message: string): void {
    const { listenerTable, report } = this.#parts
    this.#messagesStored = this.#messagesStored
      .then(() => listenerTable.storeMessage(this.id, LISTENING, message))
      .catch(report)
  }

  #operations(): SessionOperations<StatefulSession> {
    const { sessionTable, report } = this.#parts
    return {
      save: () => this.#record.save(),
      trySave: () => this.#record.save().catch(report),
      noteListening: async () => {},
      prepareRequest: async () => {
        await this.#record.save()
        const usedOfBlock = this.#session.lastId % ID_BLOCK
        // A new block of ids is reserved when half of a block is used, so that concurrent requests do not
        // exceed the block
        if (usedOfBlock > 0 && usedOfBlock < ID_BLOCK / 2) return
        this.#session.lastId = await sessionTable.reserveIds(this.id)
      },
      end: () => this.#parts.remove(this.id),
    }
  }
}
