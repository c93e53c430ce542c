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
  /**
   * Receives the progress of the request. Servers report progress only if this is set. While the client
   * polls a task, receives the status messages of the task.
   */
  readonly onProgress?: ((progress: ProgressParams) => void) | undefined
  /**
   * Called with the log messages of this request, but only over HTTP. On other transports, log messages do
   * not say which request they belong to, so only `onLog` of `connect` receives them.
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
   * If `true`, the request fails with `UNAUTHORIZED` instead of starting a sign-in. For requests that the
   * user did not initiate, such as polls.
   *
   * @default false
   */
  readonly background?: boolean | undefined
  /**
   * With `reload`, the request is sent even if the result is cached. The option of `fetch` has the same
   * meaning.
   *
   * @default 'default'
   */
  readonly cache?: 'default' | 'reload' | undefined
  /**
   * With `manual`, the call also returns incomplete results: results of the type `input_required`, or of a
   * type that an extension adds. With `auto`, the client provides the input, or the extension completes
   * the result.
   *
   * @default 'auto'
   */
  readonly input?: 'auto' | 'manual' | undefined
}
