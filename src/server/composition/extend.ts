/**
 * Adds protocol extensions to a server. They are negotiated with each request.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#extension-negotiation
 */
import {
  EVENTS_EXTENSION,
  SKILLS_EXTENSION,
  TASKS_EXTENSION,
} from '../../protocol/extension-ids.ts'
import { SdkError, ProtocolError, toErrorObject } from '../../protocol/errors.ts'
import { METHOD_NOT_FOUND } from '../../protocol/error-codes.ts'
import {
  FIRST_REVISION,
  negotiateRevision,
  withRevision,
} from '../../protocol/extension-revision.ts'
import { isExtensionId } from '../../protocol/meta.ts'
import { methods, type MethodFacts } from '../../protocol/methods.ts'
import type { RevisionFacts } from '../../protocol/revisions.ts'
import type {
  JsonObject,
  Result,
  ServerCapabilities,
  SubscriptionFilter,
} from '../../protocol/types.ts'
import { isObject } from '../../protocol/validate.ts'
import type {
  AddedMethod,
  Extensions,
  AcceptedFilter,
  SendNotification,
} from '../features/extensions.ts'
import type { InternalContext } from '../request/base-request-context.ts'
import type { Exchange } from '../request/exchange.ts'
import type {
  ExtensionFilter,
  ExtensionMethod,
  ServerExtensionOptions,
} from './server-extension.ts'
import type { Unsubscribe } from '../notifier.ts'
import type { ClientInput } from '../definition.ts'
import { fullDefinitionOf } from '../definition-of.ts'
import type { Server } from '../server.ts'
import { ExtensionError } from './extension-error.ts'

/**
 * Adds an extension to a server.
 *
 * @throws {TypeError} If the id or the settings are invalid, the extension or one of its methods
 * already exists, or the server was not created by `createServer` of `edgewise/server`.
 */
export function addExtension(server: Server, extension: ServerExtensionOptions): void {
  const definition = fullDefinitionOf(server)
  const { extensions = new ExtensionTable(), input } = definition
  if (!(extensions instanceof ExtensionTable))
    throw new TypeError(
      'The server has extensions of another copy of this package: install it once',
    )
  extensions.add(extension)
  if (isUnknownOfficial(extension.id)) {
    definition.report(new TypeError(`"${extension.id}" has the prefix of official extensions`))
  }
  if (!definition.extensions) definition.input = withExtensionErrors(input)
  definition.extensions = extensions
  definition.resetCapabilities()
  extension.attach?.(server)
}

/** Whether an id has the prefix of the protocol's own extensions, without being one of these extensions. */
function isUnknownOfficial(id: string): boolean {
  return /^io\.modelcontextprotocol\/(?!(?:tasks|skills|ui|events)$)/.test(id)
}

/** Lets errors of extensions keep their codes. */
function withExtensionErrors(input: ClientInput): ClientInput {
  return {
    ...input,
    describeError: (error, ...rest) =>
      error instanceof ExtensionError ? toErrorObject(error) : input.describeError(error, ...rest),
  }
}

type Subscribe = (notify: SendNotification) => Unsubscribe | Promise<Unsubscribe>

/** The extensions of a server. */
export class ExtensionTable implements Extensions {
  readonly extensions: Map<string, ServerExtensionOptions> = new Map()
  readonly #methods = new Map<string, AddedMethod>()
  readonly #filters = new Map<
    string,
    { extension: ServerExtensionOptions; extensionFilter: ExtensionFilter }
  >()

  add(extension: ServerExtensionOptions): void {
    const { id, settings = {}, methods: added = {}, filters = {} } = extension
    if (!isExtensionId(id)) {
      throw new TypeError(`"${String(id)}" is not an extension id, such as "com.example/search"`)
    }
    if (!isObject(settings)) throw new TypeError(`The settings of "${id}" must be an object`)
    const revisionNames = [settings.revision ?? '', ...(extension.revisions || [])]
    if (revisionNames.some((revision) => typeof revision !== 'string')) {
      throw new TypeError(`The revisions of "${id}" must be strings`)
    }
    if (this.extensions.has(id)) throw new TypeError(`The extension "${id}" exists already`)
    const taken = Object.keys(added).find((name) => methods.has(name) || this.#methods.has(name))
    if (taken !== undefined) throw new TypeError(`The method "${taken}" exists already`)
    requireUnreserved(extension)
    this.extensions.set(id, extension)
    for (const [name, method] of Object.entries(added)) {
      this.#methods.set(name, methodOf(extension, method))
    }
    for (const [name, extensionFilter] of Object.entries(filters)) {
      this.#filters.set(name, { extension, extensionFilter })
    }
  }

  method(name: string, { era }: RevisionFacts): AddedMethod | undefined {
    const method = this.#methods.get(name)
    return method && isInEra(method.facts, era) ? method : undefined
  }

  declare(capabilities: ServerCapabilities, era: RevisionFacts['era']): ServerCapabilities {
    const offered = [...this.extensions.values()].filter((extension) => isInEra(extension, era))
    const declared = { ...capabilities }
    for (const extension of this.extensions.values()) {
      Object.assign(declared, extension.capabilities?.(era))
    }
    if (offered.length === 0) return declared
    const settingsById = Object.fromEntries(
      offered.map(({ id, settings = {}, revisions }) => [id, withRevision(settings, revisions)]),
    )
    return { ...declared, extensions: { ...capabilities.extensions, ...settingsById } }
  }

  allows(result: Result, ctx: InternalContext): boolean {
    const { method, exchange } = ctx
    return [...this.extensions.values()].some((extension) => {
      const { resultTypes = [], resultMethods = [method] } = extension
      const definesType = resultTypes.some((type) => type === result.resultType)
      const applies =
        definesType &&
        resultMethods.includes(method) &&
        negotiate(extension, exchange) !== undefined
      return applies && (extension.isOwnResult?.(result, ctx) ?? true)
    })
  }

  scopesFor(method: string, params: JsonObject): readonly string[] {
    return this.#methods.get(method)?.scopes?.(params) ?? []
  }

  acceptFilter(
    requested: SubscriptionFilter,
    ctx: InternalContext,
  ): Promise<AcceptedFilter> | undefined {
    return this.#filters.size > 0 ? this.#acceptFilter(requested, ctx) : undefined
  }

  async #acceptFilter(
    requested: SubscriptionFilter,
    ctx: InternalContext,
  ): Promise<AcceptedFilter> {
    const filter: SubscriptionFilter = {}
    const subscribeFunctions: Subscribe[] = []
    for (const [name, { extension, extensionFilter }] of this.#filters) {
      if (!Object.hasOwn(requested, name)) continue
      requireNegotiated(extension, ctx.exchange)
      const accepted: unknown = await extensionFilter.accept(requested[name], ctx)
      if (accepted === undefined) continue
      filter[name] = accepted
      subscribeFunctions.push((notify) => extensionFilter.subscribe(accepted, notify, ctx))
    }
    return { filter, start: (notify) => subscribeAll(subscribeFunctions, notify) }
  }
}

/**
 * The prefixes of methods and filter members that are reserved for the protocol's own extensions,
 * and the extension that each belongs to.
 */
const RESERVED: readonly (readonly [string, string])[] = [
  ['events/', EVENTS_EXTENSION],
  ['notifications/events/', EVENTS_EXTENSION],
  ['eventsListChanged', EVENTS_EXTENSION],
  ['tasks/', TASKS_EXTENSION],
  ['skills/', SKILLS_EXTENSION],
  ['resources/directory/read', SKILLS_EXTENSION],
]

/** Rejects methods, filter members and result types that are reserved for another extension. */
function requireUnreserved({
  id,
  methods: added = {},
  filters = {},
  resultTypes = [],
}: ServerExtensionOptions): void {
  const names = [...Object.keys(added), ...Object.keys(filters)]
  const reserved = RESERVED.find(([prefix]) => names.some((name) => name.startsWith(prefix)))
  const owner = resultTypes.includes('task') ? TASKS_EXTENSION : reserved?.[1]
  if (owner !== undefined && owner !== id) {
    throw new TypeError(
      `A method, filter member or result type of "${id}" is reserved for "${owner}"`,
    )
  }
}

/** Starts all subscriptions; if one fails, ends the others. */
async function subscribeAll(
  subscribeFunctions: readonly Subscribe[],
  notify: SendNotification,
): Promise<Unsubscribe> {
  const unsubscribeFunctions: Unsubscribe[] = []
  const unsubscribeAll = (): void => unsubscribeFunctions.forEach((unsubscribe) => unsubscribe())
  try {
    for (const subscribe of subscribeFunctions) unsubscribeFunctions.push(await subscribe(notify))
  } catch (error) {
    unsubscribeAll()
    throw error
  }
  return unsubscribeAll
}

/** Converts a method of an extension to an entry of the table. */
function methodOf(extension: ServerExtensionOptions, method: ExtensionMethod): AddedMethod {
  return {
    facts: {
      ...eraOf(extension, method),
      ...(method.nameParam !== undefined && { nameParam: method.nameParam }),
      ...(method.cacheable && { cacheable: true }),
    },
    scopes: (params) => method.scopes?.(params) ?? [],
    run(_server, params, ctx) {
      if (method.legacy && ctx.exchange.revision.era === 'legacy') return method.legacy(params, ctx)
      const revision = requireNegotiated(extension, ctx.exchange)
      if (method.handle) return method.handle(params, ctx, revision)
      throw new ProtocolError(METHOD_NOT_FOUND, `Method not found: "${ctx.method}"`)
    },
  }
}

/** The era in which a method exists; empty if it exists in both. */
function eraOf(
  { era }: ServerExtensionOptions,
  { handle, legacy }: ExtensionMethod,
): Pick<MethodFacts, 'era'> {
  if (!legacy) return era ? { era } : {}
  return handle ? {} : { era: 'legacy' }
}

/**
 * Checks that the client declares an extension in this request, in a revision that the server supports.
 * Clients need not declare an extension with `serverOnly`, or one that is part of the core protocol. Clients
 * whose capabilities are unknown declare an extension by using it.
 *
 * @returns The revision of the extension.
 */
function requireNegotiated(extension: ServerExtensionOptions, exchange: Exchange): string {
  const revision = negotiate(extension, exchange)
  if (revision !== undefined) return revision
  if (exchange.client.unknown) return FIRST_REVISION
  const { id, revisions } = extension
  const declared = exchange.client.capabilities.extensions?.[id]
  const required = withRevision({}, revisions)
  const message = isObject(declared)
    ? `The server does not support revision ${JSON.stringify(declared.revision)} of "${id}"`
    : `The client does not declare the extension "${id}"`
  // Revisions with sessions define no error for missing extensions
  if (exchange.revision.era === 'legacy') throw new ProtocolError(METHOD_NOT_FOUND, message)
  const data = { requiredCapabilities: { extensions: { [id]: required } } }
  throw new SdkError('CAPABILITY_MISSING', message, { data })
}

/** The negotiated revision of an extension; `undefined` if the extension is off for the client. */
function negotiate(
  { id, era, serverOnly, revisions, coreSince }: ServerExtensionOptions,
  { client, revision }: Exchange,
): string | undefined {
  if (era !== undefined && era !== revision.era) return undefined
  const declared = client.capabilities.extensions?.[id]
  const isImplied = serverOnly || (coreSince !== undefined && revision.version >= coreSince)
  if (isImplied && !isObject(declared)) return FIRST_REVISION
  return negotiateRevision(declared, revisions)
}

/** Whether a method or an extension exists in an era. Without `era`, it exists in both. */
function isInEra({ era }: Pick<MethodFacts, 'era'>, wantedEra: RevisionFacts['era']): boolean {
  return era === undefined || era === wantedEra
}
