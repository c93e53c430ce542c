/**
 * What a handler needs of sessions, which are none, sealed into their ids, in a store, or served
 * elsewhere.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import { HEADER_SESSION_ID } from '../../../protocol/headers.ts'
import {
  resultResponse,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type RequestId,
} from '../../../protocol/jsonrpc.ts'
import type { RevisionFacts } from '../../../protocol/revisions.ts'
import { initialize } from '../../../server/features/initialize.ts'
import type { Caller } from '../../../server/request/exchange.ts'
import { unsupportedVersion } from '../../../server/request/request-meta.ts'
import type { SessionRecord } from '../../../session/session.ts'
import { HttpError, jsonResponse, invalidRequest } from '../../http/http-error.ts'
import type { HttpEndpoint, IncomingRequest } from '../incoming.ts'
import type { Reply, ReplyOptions } from '../reply.ts'

/** The sessions of one handler. */
export interface SessionManager {
  /** The value of `Allow`; other methods are answered with 405. */
  readonly allow: 'POST, OPTIONS' | 'GET, POST, DELETE, OPTIONS'
  /**
   * The session that the headers name, or the response if it is served elsewhere. Reads no body.
   *
   * @throws {HttpError} 400 when the version is unknown or not the session's, or a session id is
   *   missing; 404 when there is no such session any more, or it is someone else's. Without sessions
   *   the id is ignored.
   */
  resolve(incoming: IncomingRequest): HttpSession | Response | Promise<HttpSession | Response>
  /**
   * Answers an `initialize` that names no session.
   *
   * @throws {ProtocolError} when params are wrong, or the session cannot be stored.
   */
  open(incoming: IncomingRequest, message: JsonRpcRequest): Promise<Response>
  /** Ends every session that lives here. */
  close(): Promise<void>
}

/** Where the messages of a session are handled. */
export interface HttpSession {
  readonly revision: RevisionFacts
  /**
   * Makes the reply to one request, or to a batch.
   *
   * @param message The request, if it is no batch.
   * @throws {ProtocolError} `INVALID_REQUEST` when the id of the request is in flight.
   * @throws {HttpError} 404 when the session ended.
   */
  createReply(options: ReplyOptions, message?: JsonRpcRequest): Reply
  /** Answers a request; `undefined` when the client cancelled it. */
  handle(
    message: JsonRpcRequest,
    reply: Reply,
    caller: Caller,
  ): Promise<JsonRpcResponse | undefined>
  /**
   * Takes a message that is not answered.
   *
   * @throws {HttpError} 404 when the session ended.
   */
  receive(message: JsonRpcNotification | JsonRpcResponse, caller: Caller): Promise<void>
  /** Rejects the request to the client that a malformed response was meant for. */
  rejectPending(frame: unknown, error: Error): void
  /** Whether a request of that id is being answered. */
  isInFlight(id: RequestId): boolean
  /**
   * Answers a GET: opens a stream for what belongs to no request, or resumes one that broke.
   *
   * @throws {HttpError} 400, 405 or 406.
   */
  listen(incoming: IncomingRequest): Promise<Response>
  /** Answers a DELETE: ends the session and all that is open in it. */
  end(): Promise<Response>
}

/** A way to have sessions, as the option `sessions` of a handler. */
export type SessionProvider = (endpoint: HttpEndpoint) => SessionManager

/**
 * The revision that the version header states.
 *
 * @throws {HttpError} 400 unless it has sessions and the server supports it.
 */
export function requireLegacyRevision({
  endpoint: { server },
  stated,
  version,
}: IncomingRequest): RevisionFacts | undefined {
  if (version === null) return undefined
  if (stated?.era === 'legacy' && server.revisions.includes(stated)) return stated
  throw new HttpError(400, unsupportedVersion(server.revisions, version))
}

/**
 * The session id of a request.
 *
 * @throws {HttpError} 400 when it is missing, or for the version as {@link requireLegacyRevision}.
 */
export function requireSessionId(incoming: IncomingRequest): string {
  requireLegacyRevision(incoming)
  if (incoming.sessionId !== null) return incoming.sessionId
  throw invalidRequest(400, 'The "Mcp-Session-Id" header is missing')
}

/**
 * Checks that a request states no other revision than its session's.
 *
 * @throws {HttpError} 400.
 */
export function requireRevision({ stated }: IncomingRequest, revision: RevisionFacts): void {
  if (!stated || stated === revision) return
  throw invalidRequest(400, `The session speaks ${revision.version}, not ${stated.version}`)
}

/**
 * Answers `initialize`.
 *
 * @param sendsUnasked Whether the server can send messages outside its answers.
 * @param store Stores what was negotiated, and gives the id of the session.
 * @throws {ProtocolError} `INVALID_PARAMS` when a required member is missing; otherwise as `store`.
 */
export async function answerInitialize(
  { endpoint, caller }: IncomingRequest,
  { id, params }: JsonRpcRequest,
  sendsUnasked: boolean,
  store?: (record: SessionRecord) => Promise<string>,
): Promise<Response> {
  const { record, result } = initialize(endpoint.server, params, sendsUnasked)
  if (caller.principal !== undefined) record.principal = caller.principal
  const sessionId = await store?.(record)
  const headers = sessionId === undefined ? undefined : { [HEADER_SESSION_ID]: sessionId }
  return jsonResponse(resultResponse(id, result), 200, headers)
}
