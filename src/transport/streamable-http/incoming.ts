/**
 * A request to a handler, and the endpoint that received it.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import { HEADER_PROTOCOL_VERSION, HEADER_SESSION_ID } from '../../protocol/headers.ts'
import { findRevision, LATEST_LEGACY, type RevisionFacts } from '../../protocol/revisions.ts'
import type { ServerDefinition } from '../../server/definition.ts'
import type { Caller, Exchange } from '../../server/request/exchange.ts'
import { acceptsEvents, readHeader } from '../http/request-body.ts'
import type { EndpointOptions, HandlerHooks } from './options.ts'

/** A server, as configured by one handler. */
export interface HttpEndpoint extends Pick<Exchange, 'askMode' | 'shutdown'> {
  readonly server: ServerDefinition
  readonly options: EndpointOptions
  readonly hooks: HandlerHooks
}

/**
 * A request whose origin and caller were checked. Each header is read only once, because reading headers is slow on
 * workerd.
 */
export class IncomingRequest {
  readonly endpoint: HttpEndpoint
  readonly request: Request
  readonly caller: Caller
  /** The trimmed `MCP-Protocol-Version` header. */
  readonly version: string | null
  /** The revision that the header names, if it is known. */
  readonly stated: RevisionFacts | undefined
  /**
   * Whether the header names a revision without sessions: 2026-07-28, or a later revision that this
   * server does not know.
   */
  readonly isModern: boolean
  /** The `Mcp-Session-Id` header; `null` if it is missing or the revision has no sessions. */
  readonly sessionId: string | null
  /** Whether the client accepts an event stream as the response. */
  readonly acceptsEvents: boolean
  /** The body, once it has been read. */
  text = ''

  /**
   * @throws {HttpError} 400 when a header has conflicting values, 406 when the client accepts
   * neither JSON nor event streams.
   */
  constructor(endpoint: HttpEndpoint, request: Request, caller: Caller) {
    this.endpoint = endpoint
    this.request = request
    this.caller = caller
    const { method, headers } = request
    const version = readHeader(headers, HEADER_PROTOCOL_VERSION, ',')
    const revision = findRevision(version)
    this.version = version
    this.stated = revision
    this.isModern = revision ? revision.era === 'modern' : isLaterVersion(version)
    this.sessionId = this.isModern ? null : readHeader(headers, HEADER_SESSION_ID)
    this.acceptsEvents = method !== 'DELETE' && acceptsEvents(headers)
  }
}

/** Whether a version is a date after the last revision with sessions. */
function isLaterVersion(version: string | null): boolean {
  return version !== null && /^\d{4}(-\d\d){2}$/.test(version) && version > LATEST_LEGACY.version
}
