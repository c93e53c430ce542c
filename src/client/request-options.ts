/**
 * The options of every request.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic
 */
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { LoggingLevel, LoggingMessageParams, Meta, ProgressParams } from '../protocol/types.ts'

/** Options of one request. */
export interface RequestOptions {
  /** Gives up: the call rejects with `ABORTED`, and the server is notified. */
  readonly signal?: AbortSignal | undefined
  /**
   * The longest silence, in milliseconds. Progress ends a silence, but servers report it only where
   * `onProgress` asks for it. Default: the client's.
   */
  readonly timeoutMs?: number | undefined
  /** The longest time altogether, in milliseconds. Default: the client's. */
  readonly maxTimeoutMs?: number | undefined
  /** Asks for progress, and receives it; of a task that is followed, its status messages. */
  readonly onProgress?: ((progress: ProgressParams) => void) | undefined
  /**
   * Learns of log messages that came with the answer of this request: over HTTP, as elsewhere they
   * do not say which request they belong to, and `onLog` of `connect` receives them.
   */
  readonly onLog?: ((message: LoggingMessageParams) => void) | undefined
  /** The least severe log message that this request wants; since 2026-07-28. */
  readonly logLevel?: LoggingLevel | undefined
  /** More `_meta`; keys of the protocol win. */
  readonly meta?: Meta | undefined
  /**
   * What is declared with this request in place of what the client declares, by the names of
   * capabilities and extensions, such as `{ sampling: undefined }`; since 2026-07-28.
   */
  readonly capabilities?:
    | {
        readonly extensions?: Readonly<Record<string, unknown>> | undefined
        readonly [name: string]: unknown
      }
    | undefined
  /** More params of a tool's call, for extensions. */
  readonly params?: JsonObject | undefined
  /**
   * Whether the user did not ask for it, as for a poll: then it fails with `UNAUTHORIZED` rather
   * than have the user sign in. Default: false.
   */
  readonly background?: boolean | undefined
  /** `reload` asks the server even where the result is cached, as that of `fetch` does. */
  readonly cache?: 'default' | 'reload' | undefined
  /**
   * `manual` hands a result back that is not the complete one: `input_required`, or of a type that
   * an extension adds. Default: `auto`, which answers it or lets the extension follow it.
   */
  readonly input?: 'auto' | 'manual' | undefined
}
