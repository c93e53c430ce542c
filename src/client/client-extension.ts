/**
 * Creates protocol extensions for clients. Only clients with extensions load this file.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#extension-negotiation
 */
import { ignore } from '../patterns/hooks.ts'
import { SdkError } from '../protocol/errors.ts'
import { isExtensionId } from '../protocol/meta.ts'
import { methods } from '../protocol/methods.ts'
import type { Revision } from '../protocol/revisions.ts'
import type { ClientCapabilities, Result, JsonObject } from '../protocol/types.ts'
import type {
  ClientExtension,
  ExtensionClient,
  ExtensionRequest,
  ExtensionTarget,
  PassMessage,
  ServerRequestHandler,
} from './extension.ts'
import { addLayer } from './middleware.ts'
import type { RequestOptions } from './request-options.ts'

/**
 * The key of a request option. Its value is the operation, such as a task, that an earlier call of the same
 * request started. The option is for callers, such as gateways, that repeat a request with each set of input
 * responses. In the first call, such a caller passes `null`, and the call returns the started operation. In
 * later calls, the caller passes that operation, so that each call waits for the end of the operation
 * instead of starting another one.
 */
export const startedOperation: unique symbol = Symbol('startedOperation')

/**
 * The error code of a call that ends because the server asks for input. A caller such as a gateway provides
 * the input with its next call. The code differs from the codes of internal errors, which alert operators,
 * and of transient errors, after which middleware repeats the call.
 */
export const ANSWERED_LATER = 499

/** The result types of the core protocol. */
const CORE_TYPES = ['complete', 'input_required'] as const

/** The result types that the extensions of each client add. */
const typesByClient = new WeakMap<ExtensionClient, Set<string>>()

/** The first revision without sessions. */
const FIRST_STATELESS: Revision = '2026-07-28'

/** Options of a request that its caller may repeat. */
export interface RepeatedRequestOptions extends RequestOptions {
  readonly [startedOperation]?: Result | null
}

/** What an extension adds to a client. */
export interface ClientExtensionOptions {
  /** The vendor's prefix, a slash and a name, such as `com.example/search`. */
  readonly id: string
  /**
   * The extension's entry in the client's capabilities.
   *
   * @default {}
   */
  readonly settings?: JsonObject
  /**
   * The revisions of the extension that the client supports, for extensions that are Experimental or
   * Beta. Declare the newest revision as the member `revision` of `settings`. An empty text is the first
   * revision, which has no name. The extension is off with servers that declare another revision.
   *
   * @default ['']
   */
  readonly revisions?: readonly string[]
  /**
   * The first revision of the protocol whose core includes the extension. A client that uses only this
   * revision and later ones does not declare the extension.
   */
  readonly coreSince?: Revision
  /** For each of the extension's methods, the param that the `Mcp-Name` header repeats, if any. */
  readonly nameParams?: { readonly [method: string]: string }
  /**
   * The values of `resultType` that the extension adds, each with the function that turns such a result
   * into the complete one. The functions receive only results of servers that declare the extension, and no
   * results of requests with `input: 'manual'`.
   */
  readonly resultTypes?: { readonly [resultType: string]: ResultCompleter }
  /**
   * Executes a request in place of the client: returns the complete result, or undefined to let the
   * client send the request. Also called for the requests that this function itself sends through
   * `client`, for which it has to return undefined. Never called for requests with `input: 'manual'`.
   */
  readonly send?: (request: ExtensionRequest) => Promise<Result> | undefined
  /**
   * Wraps `answer`, the function that answers a server's requests in a session: it checks requests of the
   * core protocol and answers them with the client's handlers. `capabilities` are those that the client
   * declared in the session; each connection has its own object. A client of
   * `edgewise/client/tiny` answers no requests and never calls `wrap`.
   */
  readonly wrap?: (
    answer: ServerRequestHandler,
    capabilities: ClientCapabilities,
  ) => ServerRequestHandler
  /**
   * Adds further parts of the extension, such as middleware, with `client.use`. Called by `connect`, before
   * anything is sent. If it throws or is async, `connect` rejects.
   *
   * @param extensionIds The ids of all extensions of the client, so that an extension can check that the
   *   extensions that it needs are among them.
   */
  readonly attach?: (client: ExtensionClient, extensionIds: readonly string[]) => void
}

/**
 * Turns a result of an extension's type into the complete result of the request.
 *
 * @throws {SdkError} Any error that the caller is to receive.
 */
export type ResultCompleter = (
  result: Result,
  request: ExtensionRequest,
) => Result | Promise<Result>

/**
 * Creates an extension to pass to `connect`.
 *
 * @example
 * ```ts
 * import { clientExtension, connect } from 'edgewise/client'
 *
 * const search = clientExtension({ id: 'com.example/search' })
 * await using client = await connect('https://example.com/mcp', { extensions: [search] })
 * const { found } = await client.request('search/query', { text: 'tea' })
 * ```
 *
 * @throws {SdkError} `INVALID_USE` if the id has no prefix, or a result type belongs to the core protocol.
 *   `connect` rejects with it if two extensions have the same id, method or result type.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#extension-negotiation
 */
export function clientExtension(options: ClientExtensionOptions): ClientExtension {
  const { id, settings = {}, nameParams = {}, resultTypes = {}, coreSince, attach } = options
  if (!isExtensionId(id)) throw new SdkError('INVALID_USE', `"${id}" is not an extension id`)
  const completers = new Map(Object.entries(resultTypes))
  const coreType = CORE_TYPES.find((type) => completers.has(type))
  if (coreType) throw new SdkError('INVALID_USE', `The result type "${coreType}" exists already`)
  return {
    id,
    attach(connection) {
      const { capabilities, client, nameParams: existingParams } = connection
      const { extensions = [], revision } = connection.options
      const ids = extensions.flatMap((extension) => extension.id ?? [])
      const newParams = Object.entries(nameParams)
      const existingTypes = typesByClient.get(client) ?? new Set()
      typesByClient.set(client, existingTypes)
      const duplicate =
        newParams.find(([method]) => methods.has(method) || existingParams.has(method))?.[0] ??
        [...completers.keys()].find((type) => existingTypes.has(type))
      if (ids.indexOf(id) < ids.lastIndexOf(id) || duplicate !== undefined) {
        throw new SdkError('INVALID_USE', `"${duplicate ?? id}" exists already`)
      }
      for (const [method, param] of newParams) existingParams.set(method, param)
      for (const type of completers.keys()) existingTypes.add(type)
      const isCore = coreSince && revision && [revision].flat().every((used) => used >= coreSince)
      if (!isCore) capabilities.extensions = { ...capabilities.extensions, [id]: settings }
      addLayer(connection, extensionLayer(options, completers, connection))
      const attached: unknown = attach?.(client, ids)
      if (attached instanceof Promise) {
        attached.catch(ignore)
        throw new SdkError('INVALID_USE', `"attach" of "${id}" must not be async`)
      }
    },
  }
}

/**
 * Executes requests in place of the client, completes results of the extension's types, and answers
 * requests of the server in sessions.
 */
function extensionLayer(
  { id, revisions = [''], send, wrap }: ClientExtensionOptions,
  completers: ReadonlyMap<string, ResultCompleter>,
  { client, capabilities }: ExtensionTarget,
): PassMessage {
  const supportedRevisions: readonly unknown[] = revisions
  const declaration = (): JsonObject | undefined => client.serverCapabilities?.extensions?.[id]
  const isSupported = (declared: JsonObject | undefined): boolean =>
    !declared || supportedRevisions.includes(declared.revision ?? '')
  return async (message, { incoming, options }, next) => {
    if (incoming && options && wrap && client.revision < FIRST_STATELESS) {
      return wrap(
        async (changed) => (await next({ ...message, ...changed })) ?? {},
        capabilities,
      )(message)
    }
    if (incoming || !options) return next(message)
    const { method, params = {} } = message
    const request = { client, method, params, options }
    const { input, [startedOperation]: started }: RepeatedRequestOptions = options
    // The caller completes the result itself
    const isManual = input === 'manual' && !started
    const isFirstCall = started === null
    const mayExecute = !started && (!isManual || isFirstCall) && isSupported(declaration())
    const executed = mayExecute ? await send?.(request) : undefined
    if (executed) return executed
    const result = started ?? (await next(message)) ?? {}
    const completer = completers.get(result.resultType ?? '')
    const declared = declaration()
    if (!completer || isManual || (client.serverCapabilities && !declared)) {
      // The next layer may belong to the extension of the started operation
      return started ? next(message) : result
    }
    if (isSupported(declared)) return completer(result, request)
    throw new SdkError(
      'CAPABILITY_MISSING',
      `The client does not support revision "${String(declared?.revision)}" of "${id}"`,
    )
  }
}
