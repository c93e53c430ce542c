/**
 * Options of HTTP handlers.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import type { Authenticator } from '../../server/auth.ts'
import type { InputOptions } from '../../server/request/ask-mode.ts'
import type { ChangeSource } from '../../server/notifier.ts'
import type { Sink } from '../../session/event-store.ts'
import type { EventSinkOptions } from '../http/server-sent-event.ts'

/** The options of an HTTP handler, except the option for sessions. */
export interface EndpointOptions extends InputOptions {
  /**
   * The origins of pages that may send requests, such as `https://app.example`; `*` allows all origins.
   * Pages of the server's own origin are always allowed. If the URL of the server is on a loopback address, pages on any
   * loopback address are allowed too, over http or https. List all other origins, such as `capacitor://localhost`.
   * Origins are normalized like a `URL` before they are compared, so default ports, letter case and a trailing slash do
   * not matter.
   */
  allowedOrigins?: readonly string[] | '*'
  /** The allowed names in the header `Host`, on any port. By default all names are allowed. */
  allowedHosts?: readonly string[]
  /**
   * Authenticates callers. For access tokens, use `protectedResource`, and route the paths of its metadata to the handler
   * too. For any other scheme, use `authenticate`. By default anyone may send requests.
   */
  auth?: Authenticator
  /**
   * The maximum size of a request body, in bytes. Larger bodies are rejected with 413.
   *
   * @default 4194304
   */
  maxBodyBytes?: number
  /**
   * Whether to respond only with JSON, and never with an event stream. If so, messages that would precede the response,
   * such as progress, are dropped.
   *
   * @default false
   */
  jsonOnly?: boolean
  /**
   * The interval between keep-alive comments on idle streams, in milliseconds. With 0, no comments are sent.
   *
   * @default 15000
   */
  keepAliveMs?: number
}

/**
 * Hooks for Durable Objects and for Postgres, where streams and changes are not in the handler's memory.
 */
export interface HandlerHooks {
  /**
   * Opens the connection of the stream for a GET. By default, the stream is the body of the response.
   *
   * @returns The sink for the stream's events, and the response.
   */
  connectStream?: (
    stream: { sessionId: string; streamId: string },
    options: EventSinkOptions,
  ) => { sink: Sink; response: Response }
  /**
   * Handles a GET that opens the standalone stream, and a GET whose `Last-Event-ID` is not an event of the
   * session. By default, the session handles such requests.
   */
  onStandaloneStream?: (stream: {
    sessionId: string
    /** Whether the stream starts with an event that has only an id. */
    sendsEventId: boolean
  }) => Response
  /** The source of changes. By default, the source is the server's own `notify`. */
  changeSource?: ChangeSource | undefined
  /**
   * Whether a request of 2026-07-28 may omit the headers that repeat parts of its body, as over
   * HTTP+SSE. By default every request must have them.
   */
  clientOmitsHeaders?: (request: Request) => boolean
}
