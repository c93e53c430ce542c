/**
 * How a handler is set up.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import type { OptionNames } from '../../patterns/known-options.ts'
import type { Authenticator } from '../../server/auth.ts'
import type { InputOptions } from '../../server/engine/multi-round-trip.ts'
import type { ServerDefinition } from '../../server/definition.ts'
import type { HostSessions } from './sessions/manager.ts'
import type { StreamOptions } from './stream-options.ts'

/**
 * A way to have sessions, with all the code that takes: `statefulSessions`, `sealedSessions` or
 * `forwardedSessions`.
 */
export interface HandlerSessions {
  /** Called by `createHandler`. */
  start(server: ServerDefinition, options: HandlerOptions): HostSessions
}

/** How a server is served over HTTP where requests are only answered. */
export interface BaseHandlerOptions extends Pick<StreamOptions, 'keepAliveMs'> {
  /**
   * The origins of the pages that may call, such as `https://app.example`; `*` for all. Pages of
   * the server's own origin always may, and pages on this machine if the server is on it, by http or
   * https: name others, such as `capacitor://localhost`. Origins are compared as `URL` writes them,
   * so that default ports, capitals and a slash at the end make no difference.
   */
  allowedOrigins?: readonly string[] | '*'
  /** The `Host` names that are served, on any port; all by default. */
  allowedHosts?: readonly string[]
  /**
   * Who is served: whoever has an access token, by `protectedResource`, whose paths of metadata must
   * reach the handler too; or whom your function knows, by `authenticate`. By default everybody is.
   */
  auth?: Authenticator
  /** The longest request body, in bytes; 4 MiB by default. Longer ones are answered with 413. */
  maxBodyBytes?: number
  /** Answers with JSON only: what would be sent before the answer is left out. */
  jsonOnly?: boolean
}

/** The names of {@link BaseHandlerOptions}. */
export const BASE_HANDLER_OPTIONS: OptionNames<BaseHandlerOptions> = {
  ...{ allowedOrigins: 1, allowedHosts: 1, auth: 1, maxBodyBytes: 1, jsonOnly: 1 },
  keepAliveMs: 1,
}

/** How a server is served over HTTP. */
export interface HandlerOptions extends BaseHandlerOptions, InputOptions, StreamOptions {
  /**
   * How the revisions up to 2025-11-25 have sessions. `statefulSessions()` keeps them, in memory or in a
   * store; what `serve` and its like do. `sealedSessions()` keeps none, and lets their ids tell what
   * was negotiated. `forwardedSessions()` hands their requests over to another handler. Without any,
   * which is the default, as a handler cannot know whether the next request reaches it, these revisions are
   * served request by request, and handlers know nothing of the client. Without `statefulSessions` the
   * server cannot ask or tell a client of these revisions anything outside its answers.
   */
  sessions?: HandlerSessions | false
}
