/**
 * The context that handlers receive in addition to their arguments.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server
 */
import type { AsJson } from '../../patterns/steps.ts'
import type { Revision } from '../../protocol/revisions.ts'
import type {
  CreateMessageParams,
  CreateMessageResult,
  LoggingLevel,
  Meta,
  ObjectSchema,
  Root,
  JsonObject,
  RequestId,
} from '../../protocol/types.ts'
import type { StandardSchema } from '../../protocol/standard-schema.ts'
import type {
  ElicitFormResult,
  ElicitFormOptions,
  ElicitUrlResult,
  ElicitUrlOptions,
} from './elicitation.ts'
import type { Auth, ClientFacts } from './exchange.ts'

/**
 * The context that every handler receives in addition to its arguments: information about the
 * request, and ways to notify the client while the request is being handled.
 *
 * @typeParam Env The platform's environment, as declared in `createServer`.
 */
export interface BaseContext<Env = unknown> {
  /** The method of the request. */
  readonly method: string
  /** The id of the request, which is a string or a number. */
  readonly id: RequestId
  /** The protocol revision of the request. */
  readonly revision: Revision
  /** The client's self-reported identity and capabilities. Never base security decisions on them. */
  readonly client: ClientFacts
  /** The request's `_meta`. */
  readonly meta: Meta
  /** The authenticated principal, if authentication is configured. */
  readonly principal: string | undefined
  /** Details about the caller's authorization, if authentication is configured. */
  readonly auth: Auth | undefined
  /** The platform's environment, such as a Worker's bindings. */
  readonly env: Env
  /** The HTTP request, if there is one. */
  readonly request: Request | undefined
  /**
   * Aborted when the client no longer waits for the response. The reason is an `SdkError`. If the client
   * gave a reason for cancelling, this reason is the message of the error.
   */
  readonly signal: AbortSignal
  /** The client's settings for an extension; `undefined` if the client does not declare it. */
  extension(id: string): JsonObject | undefined
  /**
   * Lets work continue after the response. On platforms that would stop the process, keeps it alive
   * until the promise settles. Rejections are passed to `onError`.
   */
  waitUntil(work: Promise<unknown>): void
  /**
   * Reports progress, if the client asked for it. Values that do not increase are skipped.
   *
   * @param progress The progress so far.
   * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/progress#progress-flow
   */
  progress(progress: number, options?: { total?: number; message?: string }): Promise<void>
}

/**
 * The context that handlers receive in addition to their arguments: information about the request,
 * and ways to reach the client.
 *
 * @typeParam Env The platform's environment, as declared in `createServer`.
 */
export interface Context<Env = unknown> extends BaseContext<Env> {
  /**
   * The client's responses to an `input_required` result that the handler itself returned. They are
   * not validated. Handlers that use {@link Context.elicit} and similar methods do not need them.
   */
  readonly inputResponses: { readonly [key: string]: unknown } | undefined
  /** The `requestState` of an `input_required` result that the handler itself returned. */
  readonly requestState: string | undefined
  /**
   * Sends a log message, if the client wants messages of that level. Never log credentials or
   * personal data. The server option `redact` filters every message.
   *
   * @param data Any JSON value. A message that cannot be serialized is not sent, and the error is
   *   passed to `onError`.
   * @deprecated Since 2026-07-28, the protocol deprecates logging. Logging works in every revision.
   * @see https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging
   */
  log(level: LoggingLevel, data: unknown, options?: { logger?: string }): Promise<void>
  /**
   * Asks the user for data with a form. Since 2026-07-28, the handler runs again from its start when
   * the response arrives: put side effects in {@link Context.step}.
   *
   * @throws {SdkError} `CAPABILITY_MISSING` if the client does not support forms; `UNSUPPORTED` if
   *   the server cannot send requests to the client; `TIMEOUT` if the client does not answer in
   *   time.
   * @throws {ProtocolError} The error in the client's response.
   * @throws {TypeError} If the schema does not describe a flat form, or asks for a secret.
   * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
   */
  elicit<S extends StandardSchema | ObjectSchema>(
    question: ElicitFormOptions<S>,
  ): Promise<ElicitFormResult<S>>
  /**
   * Asks the user to open a URL, for data that must not pass through the client: passwords, API
   * keys, consent at another service. Do not use it to sign users in to this server: use authorization.
   *
   * The page at the URL must authenticate its visitor. It must store the data on the server for that
   * user, never for a session id alone. `createTickets` binds the URL to the user who was asked.
   *
   * @throws {SdkError} `CAPABILITY_MISSING` if the client does not support URLs; `UNSUPPORTED` if
   *   the server cannot send requests to the client; `TIMEOUT` if the client does not answer in
   *   time.
   * @throws {ProtocolError} The error in the client's response.
   * @throws {TypeError} If the URL is invalid or contains credentials.
   * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
   */
  elicitUrl(question: ElicitUrlOptions): Promise<ElicitUrlResult>
  /**
   * Requests a completion from the client's model. `key` identifies the request across replays.
   *
   * @throws {SdkError} `CAPABILITY_MISSING` if the client does not support sampling; `UNSUPPORTED`
   *   if the server cannot send requests to the client; `TIMEOUT` if the client does not answer in
   *   time.
   * @throws {ProtocolError} The error in the client's response.
   * @throws {TypeError} If the params are invalid.
   * @deprecated Since 2026-07-28, the protocol deprecates sampling. Sampling works in every revision.
   * @see https://modelcontextprotocol.io/specification/2026-07-28/client/sampling
   */
  sample(params: CreateMessageParams & { key?: string }): Promise<CreateMessageResult>
  /**
   * Requests the client's roots: the URIs within which the user lets the server work.
   *
   * @throws {SdkError} `CAPABILITY_MISSING` if the client does not support roots; `UNSUPPORTED` if
   *   the server cannot send requests to the client; `TIMEOUT` if the client does not answer in
   *   time.
   * @throws {ProtocolError} The error in the client's response.
   * @deprecated Since 2026-07-28, the protocol deprecates roots. Roots work in every revision.
   * @see https://modelcontextprotocol.io/specification/2026-07-28/client/roots
   */
  roots(): Promise<Root[]>
  /**
   * Closes the connection on which the client waits for the response, so that it is not held open
   * during long work. The client reconnects, and continues to wait. Does nothing if the client could
   * not resume the stream. Only revision 2025-11-25 supports this.
   *
   * @param retryMs How long the client should wait before it reconnects, in milliseconds; 1,000 by
   * default.
   */
  disconnect(retryMs?: number): void
  /**
   * Runs a side effect once, although the handler may run several times. The value is stored as
   * JSON. In every run, `step` returns the parsed JSON: a `Date`, for example, becomes a string.
   *
   * @param name Identifies the step; must be unique within one call of the handler.
   * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
   */
  step<T>(name: string, run: () => T | Promise<T>): Promise<AsJson<T>>
}
