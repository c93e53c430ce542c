/**
 * How a handler is set up.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import type { Authenticator } from '../../server/auth.ts'
import type { InputOptions } from '../../server/request/ask-mode.ts'
import type { ChangeSource } from '../../server/notifier.ts'
import type { Sink } from '../../session/event-store.ts'
import type { EventSinkOptions } from '../http/server-sent-event.ts'

/** How a server is served over HTTP: all options of a handler but how it has sessions. */
export interface EndpointOptions extends InputOptions {
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
   * reach the handler too; or whom the host knows, by `authenticate`. By default everybody is.
   */
  auth?: Authenticator
  /** The longest request body, in bytes; 4 MiB by default. Longer ones are answered with 413. */
  maxBodyBytes?: number
  /** Answers with JSON only: what would be sent before the answer is left out. */
  jsonOnly?: boolean
  /** Milliseconds between comments on quiet streams; 15,000 by default, 0 for none. */
  keepAliveMs?: number
}

/** What hosts of ours replace whose streams and changes are not in the memory of the handler. */
export interface HandlerHooks {
  /**
   * Opens the connection of a stream that answers a GET; in the body of its response by default.
   *
   * @returns where its events go, and the response that carries them.
   */
  connectStream?: (
    stream: { sessionId: string; streamId: string },
    options: EventSinkOptions,
  ) => { sink: Sink; response: Response }
  /**
   * Answers a GET for what belongs to no request, or for more of it after an event that the session
   * does not know; the session by default.
   */
  onStandaloneStream?: (stream: {
    sessionId: string
    /** Whether the stream begins with an event that only carries an id. */
    primed: boolean
  }) => Response
  /** Announces changes; the server's own `notify` by default. */
  changeSource?: ChangeSource
  /**
   * Whether a request of 2026-07-28 comes without the headers that repeat its body, as over
   * HTTP+SSE; then these are not checked. None by default.
   */
  isBare?: (request: Request) => boolean
}
