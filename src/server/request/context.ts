/**
 * What a handler gets beside its arguments.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server
 */
import type { AsJson } from '../../patterns/steps.ts'
import type { JsonObject, RequestId } from '../../protocol/jsonrpc.ts'
import type { Revision } from '../../protocol/revisions.ts'
import type {
  CreateMessageParams,
  CreateMessageResult,
  LoggingLevel,
  Meta,
  ObjectSchema,
  Root,
} from '../../protocol/types.ts'
import type { StandardSchema } from '../../protocol/standard-schema.ts'
import type { ElicitAnswer, FormQuestion, UrlAnswer, UrlQuestion } from './elicitation.ts'
import type { Auth, ClientFacts } from './exchange.ts'

/**
 * What every handler receives beside its arguments: facts of the request, and ways to tell
 * the client something while it is answered.
 *
 * @typeParam Env The platform's environment, as the author told `createServer`.
 */
export interface BaseContext<Env = unknown> {
  /** The method that is being answered. */
  readonly method: string
  /** The id of the request, with its JSON type. */
  readonly id: RequestId
  /** The revision that the client speaks. */
  readonly revision: Revision
  /** Who the client says it is, and what it offers. Never a basis for trust. */
  readonly client: ClientFacts
  /** The request's `_meta`. */
  readonly meta: Meta
  /** The authenticated subject, where authorization is set up. */
  readonly principal: string | undefined
  /** What authorization found out, where it is set up. */
  readonly auth: Auth | undefined
  /** The platform's environment, such as a Worker's bindings. */
  readonly env: Env
  /** The HTTP request, where there is one. */
  readonly request: Request | undefined
  /**
   * Aborted when no client waits for the answer any longer. Its reason is an `McpError`, whose
   * message is the reason that the client gave for cancelling, if it gave one.
   */
  readonly signal: AbortSignal
  /** The settings that the client declares for an extension; nothing when it declares none. */
  extension(id: string): JsonObject | undefined
  /**
   * Lets work go on after the answer: keeps the host alive until the promise settles, where the
   * platform needs to be told. A rejection concerns nobody, and is told to the console.
   */
  waitUntil(work: Promise<unknown>): void
  /**
   * Reports progress, if the client asked for it (basic/utilities/progress). Values that do not
   * increase are left out.
   *
   * @param progress How far the work is.
   */
  progress(progress: number, options?: { total?: number; message?: string }): Promise<void>
}

/**
 * What a handler gets beside its arguments: facts of the request, and ways to reach the client.
 *
 * @typeParam Env The platform's environment, as the author told `createServer`.
 */
export interface Context<Env = unknown> extends BaseContext<Env> {
  /**
   * The answers to an `input_required` result that the handler returned itself; handlers that use
   * {@link Context.elicit} and its like never need it. Unchecked.
   */
  readonly inputResponses: { readonly [key: string]: unknown } | undefined
  /** The `requestState` of an `input_required` result that the handler returned itself. */
  readonly requestState: string | undefined
  /**
   * Sends a log message, if the client wants that level (server/utilities/logging). Never put
   * credentials or personal data in it; `redact` of the server's options scrubs every message.
   *
   * @param data Any JSON value; one that cannot be written is reported to `onError`, not sent.
   * @deprecated The protocol deprecates logging since 2026-07-28; it works in every revision.
   */
  log(level: LoggingLevel, data: unknown, options?: { logger?: string }): Promise<void>
  /**
   * Asks the user for data by a form (client/elicitation). Since 2026-07-28 code before a question
   * runs again when the answer comes: put side effects in {@link Context.step}.
   *
   * @throws {ProtocolError} `MISSING_REQUIRED_CLIENT_CAPABILITY` when the client cannot show forms.
   * @throws {McpError} `UNSUPPORTED` where no way leads to the client.
   */
  elicit<S extends StandardSchema | ObjectSchema>(
    question: FormQuestion<S>,
  ): Promise<ElicitAnswer<S>>
  /**
   * Asks the user to open a URL, for what must not pass through the client: passwords, keys,
   * consent at another service (client/elicitation). Not for logging in to this server, which
   * authorization is for. The page asks who its visitor is, and what it then gets stays on the
   * server, kept for that user and never for a session id alone; `createTickets` binds the URL to
   * who was asked.
   *
   * @throws {TypeError} when the URL carries credentials.
   */
  elicitUrl(question: UrlQuestion): Promise<UrlAnswer>
  /**
   * Asks the client's model (client/sampling). `key` names the question across replays.
   *
   * @deprecated The protocol deprecates sampling since 2026-07-28; it works in every revision.
   */
  sample(params: CreateMessageParams & { key?: string }): Promise<CreateMessageResult>
  /**
   * Asks for the places that the user lets the server work in (client/roots).
   *
   * @deprecated The protocol deprecates roots since 2026-07-28; they work in every revision.
   */
  roots(): Promise<Root[]>
  /**
   * Ends the connection that waits for the answer, so that long work holds none: the client comes
   * back for what it missed (basic/transports, 2025-11-25 only). Does nothing where it could not.
   *
   * @param retryMs How long the client should stay away, in milliseconds; 1,000 by default.
   */
  disconnect(retryMs?: number): void
  /**
   * Runs a side effect once, although the handler may run several times: the value is kept and
   * given back, in every run as JSON has it, so that a date is text.
   *
   * @param name Its own within one call.
   */
  step<T>(name: string, run: () => T | Promise<T>): Promise<AsJson<T>>
}
