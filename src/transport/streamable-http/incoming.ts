/**
 * What the parts of one HTTP handler share.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import type { Caller, Exchange } from '../../server/request/exchange.ts'
import type { ServerDefinition } from '../../server/definition.ts'
import type { Acceptable } from '../http/request-body.ts'
import type { BaseHandlerOptions } from './options.ts'
import type { StreamOptions } from './stream-options.ts'
import type { HostSessions } from './sessions/manager.ts'

/** A server as one handler serves it. */
export interface Host extends Pick<Exchange, 'rounds' | 'ending' | 'changes'> {
  readonly server: ServerDefinition
  readonly options: BaseHandlerOptions & Pick<StreamOptions, 'isBare'>
  /** The sessions, where the handler has any. */
  readonly sessions?: HostSessions | undefined
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
