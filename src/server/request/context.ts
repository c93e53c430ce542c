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
  /** The id of the request, with its JSON type. */
  readonly id: RequestId
  /** The protocol revision of the request. */
  readonly revision: Revision
  /** The client's self-reported identity and capabilities. Never base a security decision on it. */
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
   * Aborted when the client no longer waits for the response. The reason is an `SdkError` whose
   * message is the client's reason for cancelling, if it gave one.
   */
  readonly signal: AbortSignal
  /** The settings that the client declares for an extension; `undefined` if it declares none. */
  extension(id: string): JsonObject | undefined
  /**
   * Continues work after the response: keeps the process alive until the promise settles, on platforms
   * that require it. Rejections are passed to `onError`.
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
   * The responses to an `input_required` result that the handler returned itself, not validated.
   * Handlers that use {@link Context.elicit} and similar methods never need it.
   */
  readonly inputResponses: { readonly [key: string]: unknown } | undefined
  /** The `requestState` of an `input_required` result that the handler returned itself. */
  readonly requestState: string | undefined
  /**
   * Sends a log message, if the client wants that level. Never log credentials or personal data;
   * the server option `redact` filters every message.
   *
   * @param data Any JSON value; a value that cannot be serialized is reported to `onError` and not
   * sent.
   * @deprecated The protocol deprecates logging since 2026-07-28; it works in every revision.
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
   * @throws {ProtocolError} The error that the client responded with.
   * @throws {TypeError} If the schema does not describe a flat form, or asks for a secret.
   * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
   */
  elicit<S extends StandardSchema | ObjectSchema>(
    question: ElicitFormOptions<S>,
  ): Promise<ElicitFormResult<S>>
  /**
   * Asks the user to open a URL, for data that must not pass through the client: passwords, API
   * keys, consent at another service. To sign users in to this server, use authorization instead.
   *
   * The page must authenticate its visitor, and store what it receives on the server. Store it for
   * that user, never for a session id alone. `createTickets` binds the URL to the user who was
   * asked.
   *
   * @throws {SdkError} `CAPABILITY_MISSING` if the client does not support URLs; `UNSUPPORTED` if
   *   the server cannot send requests to the client; `TIMEOUT` if the client does not answer in
   *   time.
   * @throws {ProtocolError} The error that the client responded with.
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
   * @throws {ProtocolError} The error that the client responded with.
   * @throws {TypeError} If the params are invalid.
   * @deprecated The protocol deprecates sampling since 2026-07-28; it works in every revision.
   * @see https://modelcontextprotocol.io/specification/2026-07-28/client/sampling
   */
  sample(params: CreateMessageParams & { key?: string }): Promise<CreateMessageResult>
  /**
   * Requests the roots that the user lets the server work in.
   *
   * @throws {SdkError} `CAPABILITY_MISSING` if the client does not support roots; `UNSUPPORTED` if
   *   the server cannot send requests to the client; `TIMEOUT` if the client does not answer in
   *   time.
   * @throws {ProtocolError} The error that the client responded with.
   * @deprecated The protocol deprecates roots since 2026-07-28; they work in every revision.
   * @see https://modelcontextprotocol.io/specification/2026-07-28/client/roots
   */
  roots(): Promise<Root[]>
  /**
   * Closes the connection on which the client waits for the response, so that it is not held open
   * during long work. The client reconnects and resumes (basic/transports, 2025-11-25 only). Does
   * nothing if the client could not resume.
   *
   * @param retryMs How long the client should wait before it reconnects, in milliseconds; 1,000 by
   * default.
   */
  disconnect(retryMs?: number): void
  /**
   * Runs a side effect once, although the handler may run several times. The value is stored and
   * returned in every run as parsed JSON, so that a `Date` becomes a string.
   *
   * @param name Identifies the step; must be unique within one call of the handler.
   * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
   */
  step<T>(name: string, run: () => T | Promise<T>): Promise<AsJson<T>>
}
