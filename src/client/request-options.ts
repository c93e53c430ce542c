/**
 * The options of every request.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic
 */
import type {
  JsonRpcNotification,
  LoggingLevel,
  LoggingMessageParams,
  Meta,
  ProgressParams,
  JsonObject,
} from '../protocol/types.ts'

/** Options of one request. */
export interface RequestOptions {
  /** Cancels the request: the call rejects with `ABORTED`, and the server is notified. */
  readonly signal?: AbortSignal | undefined
  /**
   * Idle timeout, in milliseconds. Progress restarts it, but servers report progress only if
   * `onProgress` is set. By default the client's timeout applies.
   */
  readonly timeoutMs?: number | undefined
  /** Total timeout, in milliseconds. By default the client's timeout applies. */
  readonly maxTimeoutMs?: number | undefined
  /** Requests progress and receives it. For a task that is polled, it receives the status messages. */
  readonly onProgress?: ((progress: ProgressParams) => void) | undefined
  /**
   * Called with the log messages of this request. Only over HTTP: on other transports, log messages do not
   * say which request they belong to, so only `onLog` of `connect` receives them.
   */
  readonly onLog?: ((message: LoggingMessageParams) => void) | undefined
  /**
   * Receives the notifications on the stream of this request, for extensions that answer requests with a
   * stream of notifications. Since 2026-07-28; never called by `edgewise/client/tiny`.
   */
  readonly onNotification?: ((notification: JsonRpcNotification) => void) | undefined
  /** Receives the headers of the HTTP response. */
  readonly onHeaders?: ((headers: Headers) => void) | undefined
  /** The minimum level of log messages for this request; since 2026-07-28. */
  readonly logLevel?: LoggingLevel | undefined
  /** Additional `_meta`; the protocol's own keys take precedence. */
  readonly meta?: Meta | undefined
  /**
   * Overrides the capabilities that are declared with this request, by the names of capabilities and
   * extensions, such as `{ sampling: undefined }`; since 2026-07-28.
   */
  readonly capabilities?:
    | {
        readonly extensions?: Readonly<Record<string, unknown>> | undefined
        readonly [name: string]: unknown
      }
    | undefined
  /** Additional params of a tool call, for extensions. */
  readonly params?: JsonObject | undefined
  /**
   * Whether the request was not initiated by the user, such as a poll: it then fails with
   * `UNAUTHORIZED` instead of starting a sign-in.
   *
   * @default false
   */
  readonly background?: boolean | undefined
  /**
   * With `reload`, the request is sent even if the result is cached, as with `fetch`.
   *
   * @default 'default'
   */
  readonly cache?: 'default' | 'reload' | undefined
  /**
   * With `manual`, an incomplete result is returned to the caller: `input_required`, or a type that
   * an extension adds. `auto` provides the input or lets the extension complete the result.
   *
   * @default 'auto'
   */
  readonly input?: 'auto' | 'manual' | undefined
}
