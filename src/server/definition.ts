/**
 * A server's definition: what it offers, independent of any connection. It is created once,
 * configured by the application and by extensions, and then shared by all requests and sessions.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server
 */
import type { Awaitable } from '../patterns/awaitable.ts'
import { callHook, ignore } from '../patterns/hooks.ts'
import { requireKnown, type OptionNames } from '../patterns/known-options.ts'
import type { MethodFacts } from '../protocol/methods.ts'
import {
  findRevision,
  revisions,
  type Revision,
  type RevisionFacts,
} from '../protocol/revisions.ts'
import type {
  CacheHints,
  Implementation,
  InputRequiredResult,
  Result,
  ServerCapabilities,
  ErrorObject,
  JsonObject,
  JsonRpcNotification,
  JsonRpcRequest,
} from '../protocol/types.ts'
import { isImplementation } from '../protocol/validate.ts'
import { requireHints } from './features/caching.ts'
import { inferCapabilities, type DeclareCapabilities } from './features/discover.ts'
import type { Extensions } from './features/extensions.ts'
import type { HeaderParamSupport } from './features/header-params.ts'
import type { Paginate } from './features/pagination.ts'
import type { PromptEntry } from './features/prompts.ts'
import type { ResourceEntry, ResourceTemplateEntry } from './features/resources.ts'
import type { TaskFactory, ToolEntry } from './features/tools.ts'
import type { Notifier } from './notifier.ts'
import type { ServerObservation } from './observer.ts'
import { Registry } from './registry.ts'
import type { Context } from './request/context.ts'
import type { Caller, ClientFacts, ClientRegistry, Exchange } from './request/exchange.ts'
import type { LogRules } from './request/logging.ts'
import type { AskMode, InputOptions } from './request/ask-mode.ts'
import type { Suspension } from './request/outcome.ts'
import type { InternalContext } from './request/base-request-context.ts'
import type { BaseServerOptions, Middleware, WrapServerMessage } from './server.ts'

/** The parts from which a preset composes a server, so that unused parts stay out of the bundle. */
export interface ServerFeatures {
  /** The handlers of the supported protocol methods. */
  readonly methods: ReadonlyMap<string, Method>
  /**
   * The text in errors about unknown options that names a larger entry point: ` ("edgewise/server"
   * has more)`.
   */
  readonly optionHint?: string
  /** How the server asks its clients for input. */
  readonly input: ClientInput
  /** How the server supports tool arguments that HTTP headers repeat. */
  readonly headerParams: HeaderParamSupport
  /** Adapts the result of a method to the client's revision. */
  readonly degradeResult: (method: string, result: Result, revision: RevisionFacts) => Result
  /** Announces changes to hosts. Absent if clients receive no notifications. */
  readonly notify?: Notifier
  /** The settings for log messages. Absent if the server sends no log messages. */
  readonly logs?: LogRules
  /** Adds the capabilities of features that only some presets include. */
  readonly declare?: DeclareCapabilities
  /** Reports operations to the application's observer. Absent if the server is not observed. */
  readonly observe?: ServerObservation | undefined
}

/** The functions with which a server asks its clients for input while it handles their requests. */
export interface ClientInput {
  /** The names of the options about asking clients for input. */
  readonly options: Partial<OptionNames<InputOptions>>
  /**
   * Prepares how self-describing requests, which belong to no session, can ask for input. Called once per
   * handler or connection.
   *
   * @throws {SdkError} `INVALID_USE` if a secret is too short.
   */
  configure(options: InputOptions): AskMode
  /**
   * Creates the context of a request. If the request resumes an earlier round, the context has the recording.
   *
   * @throws {ProtocolError} `INVALID_PARAMS` if the request cannot be resumed.
   */
  createContext(
    server: ServerDefinition,
    message: JsonRpcRequest,
    exchange: Exchange,
  ): InternalContext | Promise<InternalContext>
  /**
   * Obtains the input for which a run is suspended. Returns the `input_required` result if the
   * client must repeat the request with the input, or the context of the next run if the client was
   * asked directly.
   *
   * @throws {ProtocolError} If the client cannot be asked for this input.
   */
  suspend(
    server: ServerDefinition,
    suspension: Suspension,
    ctx: InternalContext,
    target: MethodTarget,
  ): Promise<InputRequiredResult | InternalContext>
  /**
   * The error that the client receives for a failed input request; `undefined` for other errors.
   *
   * @param report Receives details that are withheld from the client.
   */
  describeError(
    error: unknown,
    revision: RevisionFacts,
    report: (error: unknown) => void,
  ): ErrorObject | undefined
}

/** The handler of one request. */
export interface MethodTarget {
  readonly facts: MethodFacts
  readonly run: Method
  /** The called tool, if it was already looked up. */
  readonly tool?: ToolEntry | undefined
}

/** Handles the requests of one method. */
export type Method = (
  server: ServerDefinition,
  params: JsonObject,
  ctx: InternalContext,
  /** The called tool, if it was already looked up. */
  tool?: ToolEntry,
) => Result | Promise<Result>

/** A middleware with the method that it wraps. A middleware without a method wraps all methods. */
export interface AppliedMiddleware {
  readonly method: string | undefined
  readonly run: Middleware
  /**
   * Wraps messages of the method that are not requests of clients: notifications, and the server's
   * requests.
   */
  readonly wrap?: WrapServerMessage
}

/** What is known about the client that sends a notification. */
export interface SenderFacts {
  readonly caller: Caller
  readonly client?: ClientFacts | undefined
}

/** Passes a notification of a client through middleware. */
export type ReceiveNotification = (
  message: JsonRpcNotification,
  sender: SenderFacts,
  handle?: (message: JsonRpcNotification) => Awaitable<void>,
) => Awaitable<void>

/** Reports an error whose details are withheld from the client. */
export type Report = (error: unknown, ctx?: InternalContext) => void

/** The server can send messages outside of responses, because modern clients can send `subscriptions/listen`. */
const CAN_PUSH = true

/** The names of the options of every server. The values have no meaning. */
const OPTION_NAMES: OptionNames<BaseServerOptions> = {
  instructions: 1,
  revisions: 1,
  capabilities: 1,
  pages: 1,
  cache: 1,
  onError: 1,
}

/** A server's definition: the parts from its preset, and the registrations and options of the application. */
export interface ServerDefinition extends ServerFeatures {
  /** How the server asks for input. Replaced when extensions are added, to describe their errors too. */
  input: ClientInput
  readonly info: Implementation
  readonly instructions: string | undefined
  /** Capabilities that the application declares in addition to the inferred capabilities. */
  readonly capabilities: ServerCapabilities
  readonly revisions: readonly RevisionFacts[]
  /** Paginates lists. Absent if every list is a single page. */
  readonly pages: Paginate | undefined
  readonly cache: Required<CacheHints>
  readonly tools: Registry<ToolEntry>
  readonly resources: Registry<ResourceEntry>
  readonly resourceTemplates: Registry<ResourceTemplateEntry>
  readonly prompts: Registry<PromptEntry>
  /** Passes an error to `onError`. Cancelled requests are not errors, and are not reported. */
  readonly report: Report
  /** The capabilities that are declared if the server can send change notifications. */
  readonly offered: ServerCapabilities
  /** Middleware, outermost first. */
  readonly middleware: AppliedMiddleware[]
  /** What extensions add, if the server has any. */
  extensions?: Extensions
  /**
   * Checks that the extensions on which others depend were added.
   *
   * @throws {TypeError} If an extension is missing. The message names both extensions.
   */
  verify?(): void
  /** Turns calls into tasks. Set by the tasks extension. */
  tasks?: TaskFactory
  /** Tracks the clients that can be reached. Set by gateways. */
  clients?: ClientRegistry
  /** Passes notifications of clients through middleware and extensions. Absent if the server has neither. */
  receive?: ReceiveNotification
  /** The notifications that extensions handle. */
  notifications?: ReadonlyMap<string, unknown>
  /**
   * Collects the functions that remove what an extension adds outside of the definition. Present
   * only while an extension is being added.
   */
  undo?: (() => void)[] | undefined
  /** Lets the capabilities be inferred again, after middleware or an extension was added. */
  resetCapabilities(): void
}

/**
 * Creates the definition of a server.
 *
 * @param featureOptions The names of the options that the features read.
 * @throws {TypeError} If an option is unknown or invalid, or the server has no name or version.
 */
export function defineServer(
  info: Implementation,
  options: BaseServerOptions<Context>,
  features: ServerFeatures,
  featureOptions: object = {},
): ServerDefinition {
  requireKnown(`The server${features.optionHint ?? ''}`, options, {
    ...OPTION_NAMES,
    ...featureOptions,
  })
  const { onError = (error) => console.error(error), pages } = options
  if (pages && typeof pages !== 'function') throw new TypeError('"pages" must be pagesOf(size)')
  let offered: ServerCapabilities | undefined
  const resetCapabilities = (): void => {
    offered = undefined
  }
  const listChanged = (list: 'tools' | 'resources' | 'prompts') => (): void => {
    resetCapabilities()
    features.notify?.[`${list}ListChanged`]()
  }
  const definition: ServerDefinition = {
    ...features,
    info: requireInfo(info),
    instructions: options.instructions,
    revisions: chooseRevisions(options.revisions),
    capabilities: { ...options.capabilities },
    pages,
    cache: { ttlMs: 0, cacheScope: 'private', ...requireHints(options.cache) },
    tools: new Registry('tool', listChanged('tools')),
    resources: new Registry('resource', listChanged('resources')),
    resourceTemplates: new Registry('resource template', listChanged('resources')),
    prompts: new Registry('prompt', listChanged('prompts')),
    middleware: [],
    report(error, ctx) {
      if (error && error === ctx?.exchange.cancellation.reason) return
      // Errors of the hook itself are ignored
      callHook(() => onError(error, ctx), ignore)
    },
    get offered() {
      return (offered ??= Object.freeze(inferCapabilities(definition, CAN_PUSH, 'modern')))
    },
    resetCapabilities,
  }
  if (info.icons?.some(({ src }) => src.startsWith('data:'))) {
    const message = 'The icons of a server are sent with every result: use URLs'
    definition.report(new TypeError(message))
  }
  return definition
}

function requireInfo(info: Implementation): Implementation {
  if (isImplementation(info)) return info
  throw new TypeError('A server needs a name and a version')
}

function chooseRevisions(versions: readonly Revision[] | undefined): readonly RevisionFacts[] {
  if (!versions) return revisions
  const unknown = versions.filter((version) => !findRevision(version))
  if (unknown.length > 0) throw new TypeError(`Unknown revisions: ${unknown.join(', ')}`)
  return revisions.filter(({ version }) => versions.includes(version))
}
