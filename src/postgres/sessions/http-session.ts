/**
 * A session, as loaded for one HTTP request: its row in the database, and the live session in this process, if
 * there is one.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import { INVALID_REQUEST } from '../../protocol/error-codes.ts'
import { errorResponse, isResponse } from '../../protocol/jsonrpc.ts'
import type {
  JsonRpcNotification,
  JsonRpcRequest,
  JsonRpcResponse,
  RequestId,
} from '../../protocol/types.ts'
import type { RevisionFacts } from '../../protocol/revisions.ts'
import { isObject } from '../../protocol/validate.ts'
import { sessionRevision } from '../../server/features/initialize.ts'
import type { Caller } from '../../server/request/exchange.ts'
import { idInUse } from '../../session/session.ts'
import { sessionNotFound } from '../../transport/http/http-error.ts'
import type { IncomingRequest } from '../../transport/streamable-http/incoming.ts'
import type { Reply, ReplyOptions } from '../../transport/streamable-http/reply.ts'
import type { HttpSession } from '../../transport/streamable-http/sessions/manager.ts'
import type { LiveSession } from './live-session.ts'
import type { ProcessSessions } from './process-sessions.ts'
import type { SessionRow } from './table.ts'

/** Handles the messages of one HTTP request in its session. */
export class PostgresHttpSession implements HttpSession {
  readonly revision: RevisionFacts
  readonly #sessions: ProcessSessions
  readonly #row: SessionRow
  /** The live session, once a message has made the session live in this process. */
  #live: LiveSession | undefined

  /** @throws {TypeError} If this version of the package does not know the session's revision. */
  constructor(sessions: ProcessSessions, row: SessionRow) {
    this.revision = sessionRevision(row.record)
    this.#sessions = sessions
    this.#row = row
  }

  createReply(options: ReplyOptions, message?: JsonRpcRequest): Reply {
    if (message && this.isInFlight(message.id)) throw idInUse(message.id)
    return this.#enter().http.createReply(options, message)
  }

  handle(
    message: JsonRpcRequest,
    reply: Reply,
    caller: Caller,
  ): Promise<JsonRpcResponse | undefined> {
    return this.#enter().handle(message, reply, caller)
  }

  async receive(message: JsonRpcNotification | JsonRpcResponse, caller: Caller): Promise<void> {
    const { id } = this.#row
    if (isResponse(message)) return this.#receiveResponse(message, caller)
    const live = this.#sessions.get(id)
    if (message.method === 'notifications/cancelled') {
      const { requestId, reason } = message.params ?? {}
      if (live?.http.isInFlight(requestId as RequestId)) live.cancel(requestId, reason)
      else await this.#sessions.cancelElsewhere(id, requestId, reason)
      return
    }
    const entered = this.#enter()
    await entered.stayLiveDuring(() => entered.http.receive(message, caller))
  }

  /** Rejects the request to the client that an invalid response answers. */
  rejectPending(frame: unknown, error: Error): void {
    if (!isObject(frame) || 'method' in frame || typeof frame.id !== 'number') return
    if (!isServerRequestId(frame.id)) return
    const { id } = frame
    const { message } = error
    const answer = { ...errorResponse(id, { code: INVALID_REQUEST, message }), malformed: true }
    const { report } = this.#sessions
    this.#sessions.get(this.#row.id)?.http.rejectPending(frame, error)
    void this.#sessions.sessionTable.answer(this.#row.id, id, JSON.stringify(answer)).catch(report)
  }

  isInFlight(id: RequestId): boolean {
    if (this.#row.requests.includes(JSON.stringify(id))) return true
    return this.#sessions.get(this.#row.id)?.http.isInFlight(id) === true
  }

  listen(incoming: IncomingRequest): Promise<Response> {
    return this.#enter().listen(incoming)
  }

  async end(): Promise<Response> {
    await this.#sessions.remove(this.#row.id)
    return new Response(null, { status: 200 })
  }

  /** @throws {HttpError} 404 If the session ended since it was found. */
  #enter(): LiveSession {
    if (this.#sessions.isEnded(this.#row.id)) throw sessionNotFound()
    this.#live = this.#sessions.enter(this.#row, this.#live)
    return this.#live
  }

  /**
   * Passes an answer on to the process that asked the client. If that process has ended, this process runs the
   * call again. The HTTP response, with status 202, is sent once the answer is stored.
   */
  async #receiveResponse(message: JsonRpcResponse, caller: Caller): Promise<void> {
    const { id } = this.#row
    const { sessionTable, resumable } = this.#sessions
    const live = this.#sessions.get(id)
    // If calls are not resumable, only the process that waits for an answer needs it, so the answer is not stored
    if (!resumable && live?.serverRequests.receiveResponse(message, { isStored: false })) return
    // The ids of the server's requests are numbers
    if (typeof message.id !== 'number' || !isServerRequestId(message.id)) return
    const orphanedStreams = await sessionTable.answer(id, message.id, JSON.stringify(message))
    live?.serverRequests.receiveResponse(message, { isStored: true })
    if (orphanedStreams.length === 0) return
    const entered = this.#enter()
    await entered.stayLiveDuring(async () => {
      for (const stream of orphanedStreams) await entered.takeOver(stream, caller)
    })
  }
}

/** Whether a number can be the id of a request to the client: a positive `integer` of Postgres. */
function isServerRequestId(id: number): boolean {
  return Number.isInteger(id) && id > 0 && id < 2 ** 31
}
