/**
 * What the parts of one HTTP handler share.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import type { Ending } from '../../patterns/ending.ts'
import type { Caller, Rounds } from '../../server/exchange.ts'
import type { ServerDefinition } from '../../server/definition.ts'
import type { SealedSessions } from '../../session/sealed-sessions.ts'
import type { Acceptable } from './request.ts'
import type { HttpSessions } from './kept-sessions.ts'
import type { HandlerOptions, SessionForwarder } from './options.ts'

/** A server as one handler serves it. */
export interface Host {
  readonly server: ServerDefinition
  readonly options: HandlerOptions
  /** The sessions, where they are kept. */
  readonly sessions: HttpSessions | undefined
  /** Reads the ids of sessions that nobody keeps. */
  readonly sealed: SealedSessions | undefined
  /** Takes the requests of sessions that are served elsewhere. */
  readonly forward: SessionForwarder | undefined
  readonly rounds: Rounds
  /** Whether the handler is closed. */
  readonly ending: Ending
}

/** A request that passed the first checks. */
export interface Incoming {
  readonly host: Host
  readonly request: Request
  readonly caller: Caller
  /** The trimmed `MCP-Protocol-Version` header. */
  readonly version: string | null
  readonly accept: Acceptable
}
