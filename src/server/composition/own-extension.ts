/**
 * Extensions that authors create. In addition to the protocol's own extensions, they can depend on other
 * extensions and receive notifications, and nothing of them stays if they cannot be added.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#extension-negotiation
 */
import { isCoreNotification } from '../../protocol/core-notifications.ts'
import { revisions } from '../../protocol/revisions.ts'
import type { JsonObject } from '../../protocol/types.ts'
import { fullDefinitionOf, type ServerDefinition } from '../definition.ts'
import type { Entry, Registry } from '../registry.ts'
import type { ClientFacts } from '../request/exchange.ts'
import type { Server, ServerExtension } from '../server.ts'
import { addExtension } from './extend.ts'
import type { ExtensionMethod, ServerExtensionOptions } from './server-extension.ts'

/** What an author's extension adds to a server. */
export interface OwnExtensionOptions extends ServerExtensionOptions {
  /**
   * Handlers for the extension's notifications from clients, by name. Params are only guaranteed to be an
   * object. What a handler throws is passed to `onError`.
   */
  readonly notifications?: { readonly [method: string]: NotificationHandler }
  /**
   * The extensions that this one depends on, by id, each with what it is needed for. The order in which
   * extensions are added does not matter. If one is missing, the server cannot be served. If the server is
   * already served, the methods of the extension fail with an internal error, and `onError` receives an
   * error for each of its notifications.
   */
  readonly requires?: { readonly [id: string]: string }
}

/** Handles a notification of an extension. */
export type NotificationHandler = (
  params: JsonObject,
  ctx: NotificationContext,
) => void | Promise<void>

/** What the handler of a notification knows about its sender. */
export interface NotificationContext {
  /** The authenticated principal, if there is one. */
  readonly principal: string | undefined
  /** The client's self-reported identity and capabilities, if they are known. */
  readonly client: ClientFacts | undefined
}

/**
 * Creates a protocol extension for `server.extend`.
 *
 * @example
 * ```ts
 * import { createServer, serverExtension } from 'edgewise/server'
 *
 * const server = createServer({ name: 'travel', version: '1.0.0' })
 * server.extend(
 *   serverExtension({
 *     id: 'com.example/search',
 *     methods: { 'search/query': { handle: ({ text }) => ({ found: [text] }) } },
 *   }),
 * )
 * ```
 *
 * `server.extend` throws a `TypeError` if the id or the settings are invalid, or if the extension or one of
 * its methods or notifications exists already. Nothing of the extension then stays, nor if `attach` throws.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#extension-negotiation
 */
export function serverExtension(options: OwnExtensionOptions): ServerExtension {
  return { addTo: (server) => addOwnExtension(server, options) }
}

/**
 * Returns the ids of the extensions of a server.
 *
 * @throws {TypeError} If the server was not created by `createServer` of `edgewise/server`.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#extension-negotiation
 */
export function listExtensions(server: Server): string[] {
  return idsOf(fullDefinitionOf(server))
}

function idsOf({ extensions }: ServerDefinition): string[] {
  const eras = (['legacy', 'modern'] as const).map((era) => extensions?.declare({}, era).extensions)
  return [...new Set(eras.flatMap((declared) => Object.keys(declared ?? {})))]
}

function addOwnExtension(server: Server, options: OwnExtensionOptions): void {
  const { attach, methods = {}, notifications = {}, requires = {}, ...others } = options
  const definition = fullDefinitionOf(server)
  const rollBack = saveState(definition)
  const requireMet = (): void => requireExtensions(definition, options.id, requires)
  const guarded = Object.entries(methods).map(([name, method]) => [name, guard(method, requireMet)])
  try {
    requireFree(definition, [...Object.keys(methods), ...Object.keys(notifications)])
    attach?.(server)
    receiveNotifications(definition, notifications, requireMet)
    const { verify } = definition
    definition.verify = () => {
      verify?.()
      requireMet()
    }
    // Last, because this adds either everything or nothing
    addExtension(server, { ...others, methods: Object.fromEntries(guarded) })
  } catch (error) {
    rollBack()
    throw error
  }
}

function requireExtensions(
  definition: ServerDefinition,
  id: string,
  requires: Readonly<Record<string, string>>,
): void {
  const ids = idsOf(definition)
  const [missing] = Object.entries(requires).filter(([required]) => !ids.includes(required))
  if (missing) throw new TypeError(`"${id}" requires the extension "${missing[0]}": ${missing[1]}`)
}

/** Returns a method that fails as long as the extension lacks another one. */
function guard(method: ExtensionMethod, requireMet: () => void): ExtensionMethod {
  const { handle, legacy } = method
  return {
    ...method,
    ...(handle && {
      handle(params, ctx, revision) {
        requireMet()
        return handle(params, ctx, revision)
      },
    }),
    ...(legacy && {
      legacy(params, ctx) {
        requireMet()
        return legacy(params, ctx)
      },
    }),
  }
}

/** The notifications that the extensions of each server handle. */
const handledByServer = new WeakMap<ServerDefinition, Set<string>>()

/** Checks that no extension and not the protocol has a method or notification of these names. */
function requireFree(definition: ServerDefinition, names: readonly string[]): void {
  const taken = names.find(
    (name) =>
      isCoreNotification(name) ||
      handledByServer.get(definition)?.has(name) ||
      revisions.some((revision) => definition.extensions?.method(name, revision)),
  )
  if (taken !== undefined) throw new TypeError(`The method "${taken}" exists already`)
}

/** Lets an extension handle its notifications. */
function receiveNotifications(
  definition: ServerDefinition,
  notifications: Readonly<Record<string, NotificationHandler>>,
  requireMet: () => void,
): void {
  const handlers = new Map(Object.entries(notifications))
  if (handlers.size === 0) return
  const handled = handledByServer.get(definition) ?? []
  handledByServer.set(definition, new Set([...handled, ...handlers.keys()]))
  const { receive } = definition
  definition.receive = async (message, sender, handle) => {
    const { method, params = {} } = message
    const handler = handlers.get(method)
    try {
      if (!handler) return await (receive ? receive(message, sender, handle) : handle?.(message))
      requireMet()
      await handler(params, { principal: sender.caller.principal, client: sender.client })
    } catch (error) {
      definition.report(error)
    }
  }
}

/** Returns a function that removes what was added to a server in the meantime. */
function saveState(definition: ServerDefinition): () => void {
  const { input, tasks, clients, receive, verify, middleware } = definition
  const { length } = middleware
  const handled = handledByServer.get(definition) ?? new Set<string>()
  const { tools, resources, resourceTemplates, prompts } = definition
  const registries: Pick<Registry<Entry>, 'entries' | 'remove'>[] = [
    tools,
    resources,
    resourceTemplates,
    prompts,
  ]
  const saved = registries.map((registry) => new Set(registry.entries().keys()))
  return () => {
    Object.assign(definition, { input, tasks, clients, receive, verify })
    handledByServer.set(definition, handled)
    middleware.length = length
    for (const [index, registry] of registries.entries()) {
      const added = [...registry.entries().keys()].filter((key) => !saved[index]?.has(key))
      for (const key of added) registry.remove(key)
    }
    definition.changed()
  }
}
