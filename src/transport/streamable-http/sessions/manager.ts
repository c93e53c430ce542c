/**
 * The interface between a handler and its sessions. There are four kinds of implementations: without sessions, with
 * sessions whose state is encrypted in the session id, with stored sessions, and with sessions in Durable Objects.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import type { Awaitable } from '../../../patterns/awaitable.ts'
import { HEADER_SESSION_ID } from '../../../protocol/headers.ts'
import { resultResponse } from '../../../protocol/jsonrpc.ts'
import type {
  JsonRpcNotification,
  JsonRpcRequest,
  JsonRpcResponse,
  RequestId,
} from '../../../protocol/types.ts'
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
  /** The value of the header `Allow`. Other HTTP methods are rejected with 405. */
  readonly allow: 'POST, OPTIONS' | 'GET, POST, DELETE, OPTIONS'
  /**
   * Finds the session that the headers name. If another process or Durable Object serves the session, forwards the
   * request, and returns the response. Otherwise, leaves the body of the request unread.
   *
   * @throws {HttpError} 400 if the version is unknown or differs from the version of the session, or the
   *   session id is missing; 404 if the session does not exist or belongs to another principal. Handlers
   *   without sessions ignore the id.
   */
  resolve(incoming: IncomingRequest): Awaitable<HttpSession | Response>
  /**
   * Handles an `initialize` without a session id.
   *
   * @throws {ProtocolError} If the params are invalid, or the session cannot be stored.
   */
  open(incoming: IncomingRequest, message: JsonRpcRequest): Promise<Response>
  /** Ends all sessions in this process. */
  close(): Promise<void>
}

/** Handles the messages of a session. */
export interface HttpSession {
  readonly revision: RevisionFacts
  /**
   * Creates the reply to one request, or to a batch.
   *
   * @param message The request, unless it is a batch.
   * @throws {ProtocolError} `INVALID_REQUEST` if another request with the same id is in flight.
   * @throws {HttpError} 404 if the session has ended.
   */
  createReply(options: ReplyOptions, message?: JsonRpcRequest): Reply
  /** Answers a request. Resolves with `undefined` if the client has cancelled the request. */
  handle(
    message: JsonRpcRequest,
    reply: Reply,
    caller: Caller,
  ): Awaitable<JsonRpcResponse | undefined>
  /**
   * Handles a notification or a response.
   *
   * @throws {HttpError} 404 if the session has ended.
   */
  receive(message: JsonRpcNotification | JsonRpcResponse, caller: Caller): Promise<void>
  /** Rejects the server's pending request to which a malformed response belongs. */
  rejectPending(malformed: unknown, error: Error): void
  /** Whether a request with this id is in flight. */
  isInFlight(id: RequestId): boolean
  /**
   * Handles a GET: opens the standalone stream, or resumes a stream.
   *
   * @throws {HttpError} 400 if the event in `Last-Event-ID` is unknown; 406 if the client does not
   *   accept event streams.
   */
  listen(incoming: IncomingRequest): Promise<Response>
  /** Handles a DELETE: ends the session and closes its streams. */
  end(): Promise<Response>
}

/** Creates the sessions of a handler. It is the value of the handler's option `sessions`. */
export type SessionProvider = (endpoint: HttpEndpoint) => SessionManager

/**
 * Returns the revision named in the version header.
 *
 * @returns The revision; `undefined` if the header is missing.
 * @throws {HttpError} 400 unless the revision has sessions and the server supports it.
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
 * Returns the session id of a request.
 *
 * @throws {HttpError} 400 if the header is missing, or if {@link requireLegacyRevision} rejects the
 *   version.
 */
export function requireSessionId(incoming: IncomingRequest): string {
  requireLegacyRevision(incoming)
  if (incoming.sessionId !== null) return incoming.sessionId
  throw invalidRequest(400, 'The "Mcp-Session-Id" header is missing')
}

/**
 * Checks that the revision in the headers, if there is one, is the revision of the session.
 *
 * @throws {HttpError} 400 if the revisions differ.
 */
export function requireRevision({ stated }: IncomingRequest, revision: RevisionFacts): void {
  if (!stated || stated === revision) return
  throw invalidRequest(400, `The session speaks ${revision.version}, not ${stated.version}`)
}

/**
 * Answers `initialize`.
 *
 * @param canPush Whether the server can send messages outside of responses.
 * @param store Stores the negotiated session, and returns its id.
 * @throws {ProtocolError} `INVALID_PARAMS` if a required member is missing; the errors of `store`.
 */
export async function answerInitialize(
  { endpoint, caller }: IncomingRequest,
  { id, params }: JsonRpcRequest,
  canPush: boolean,
  store?: (record: SessionRecord) => Promise<string>,
): Promise<Response> {
  const { record, result } = initialize(endpoint.server, params, canPush)
  if (caller.principal !== undefined) record.principal = caller.principal
  const sessionId = await store?.(record)
  const headers = sessionId === undefined ? undefined : { [HEADER_SESSION_ID]: sessionId }
  return jsonResponse(resultResponse(id, result), 200, headers)
}
