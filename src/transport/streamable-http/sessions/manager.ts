/**
 * How one handler has sessions: it keeps them, their ids tell what was negotiated, or they are served
 * elsewhere.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import type { RevisionFacts } from '../../../protocol/revisions.ts'
import type { Caller, ClientFacts } from '../../../server/request/exchange.ts'
import type { SessionRecord } from '../../../session/session.ts'
import type { KeptSession } from './stateful-session.ts'

/** What a message belongs to: a session, or only a revision where the handler has no sessions. */
export interface Membership {
  /** The session, where it is kept. */
  readonly live?: KeptSession | undefined
  /** The client, as far as it is known. */
  readonly client?: ClientFacts | undefined
  readonly revision: RevisionFacts
}

/** The sessions of one handler. */
export interface HostSessions {
  /** Whether their clients can be reached beside answers. */
  readonly reach: boolean
  /**
   * Answers a request that is no POST.
   *
   * @throws {Refusal} 405 when it is neither GET nor DELETE; otherwise as `find`.
   */
  answer?(request: Request, caller: Caller): Promise<Response>
  /**
   * Hands over a request that opens a session which is served elsewhere.
   *
   * @throws {Refusal} 404 when there can be no such session.
   */
  openElsewhere?(request: Request, body: string, caller: Caller): Promise<Response>
  /**
   * Hands over a request that goes to its session by its headers alone, before its body is read.
   *
   * @throws {Refusal} 404 when there can be no such session.
   */
  forwardEarly?(
    request: Request,
    version: string | null,
    caller: Caller,
  ): Promise<Response> | undefined
  /**
   * The session that a request names.
   *
   * @param stated The revision that it names.
   * @throws {Refusal} 400 without a session id, or when the session speaks another revision; 404 when
   *   it ended.
   */
  find(request: Request, stated: RevisionFacts | undefined, caller: Caller): Promise<Membership>
  /**
   * Opens a session; gives its id.
   *
   * @throws {ProtocolError} at once, when the client says too much; later, when it cannot be kept or
   *   there are too many.
   */
  open?(record: SessionRecord, caller: Caller): Promise<string>
  /** Fails the question of the server's that a malformed answer was meant for. */
  spoil?(request: Request, caller: Caller, frame: unknown, error: Error): Promise<void>
  /** Ends every session that is kept. */
  close?(): Promise<void>
}
