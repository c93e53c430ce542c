/**
 * Extensions that applications define. Unlike the protocol's own extensions, they can depend on
 * other extensions and handle notifications. If an extension cannot be added, the server stays as it was.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#extension-negotiation
 */
import { ignore } from '../../patterns/hooks.ts'
import { isCoreNotification } from '../../protocol/core-notifications.ts'
import { methods as coreMethods } from '../../protocol/methods.ts'
import { revisions } from '../../protocol/revisions.ts'
import type { JsonObject, JsonRpcNotification } from '../../protocol/types.ts'
import type { ServerDefinition } from '../definition.ts'
import { fullDefinitionOf } from '../definition-of.ts'
import type { ClientFacts } from '../request/exchange.ts'
import type { Server, ServerExtension } from '../server.ts'
import { addExtension, ExtensionTable } from './extend.ts'
import {
  attachGuarded,
  checkUntilMet,
  guardFilter,
  guardMethod,
  idsOf,
  requireExtensions,
  type CheckRequirements,
} from './required-extensions.ts'
import { addOrRollBack } from './roll-back.ts'
import type { ServerExtensionOptions } from './server-extension.ts'

/** What a custom extension adds to a server. */
export interface CustomExtensionOptions extends ServerExtensionOptions {
  /**
   * Handlers for the extension's notifications from clients, by name. Params are only guaranteed to be an
   * object. What a handler throws is passed to `onError`.
   */
  readonly notifications?: { readonly [method: string]: NotificationHandler }
  /**
   * The extensions that this one depends on, by id, each with what it is needed for. The order in
   * which extensions are added does not matter. If one is missing, the server cannot be served. If
   * the server is already being served, requests that use the extension fail with an internal
   * error: requests for its methods, tools, resources and prompts, and requests that its middleware
   * wraps. For each notification of the extension, `onError` receives an error.
   */
  readonly requires?: { readonly [id: string]: string }
}

/** Handles a notification that belongs to an extension. */
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
 * `server.extend` throws a `TypeError` if the id or the settings are invalid, if the extension or one of its
 * methods or notifications exists already, or if `attach` is async. It throws what `attach` throws. After any
 * of these errors, the server is as it was before.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#extension-negotiation
 */
export function serverExtension(options: CustomExtensionOptions): ServerExtension {
  return { addTo: (server) => addCustomExtension(server, options) }
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

function addCustomExtension(server: Server, options: CustomExtensionOptions): void {
  const definition = fullDefinitionOf(server)
  addOrRollBack(definition, () => addParts(server, definition, options))
}

function addParts(
  server: Server,
  definition: ServerDefinition,
  options: CustomExtensionOptions,
): void {
  const { attach, ...others } = options
  const { id, methods = {}, notifications = {}, filters = {}, requires = {} } = options
  const names = [...Object.keys(methods), ...Object.keys(notifications)]
  requireFree(definition, names)
  requireFreeFilters(definition, Object.keys(filters))
  const checkRequirements = (): void => requireExtensions(definition, id, requires)
  const requireMet = checkUntilMet(requires, checkRequirements)
  const runAttach = (): void => attachTo(server, id, attach)
  if (Object.keys(requires).length === 0) runAttach()
  else attachGuarded(definition, runAttach, requireMet)
  // Checked again, because `attach` may have added other extensions
  requireFree(definition, names)
  receiveNotifications(definition, notifications, requireMet)
  const { verify } = definition
  definition.verify = () => {
    verify?.()
    checkRequirements()
  }
  // Last, because this adds either everything or nothing
  addExtension(server, {
    ...others,
    methods: mapValues(methods, (method) => guardMethod(method, requireMet)),
    filters: mapValues(filters, (filter) => guardFilter(filter, requireMet)),
  })
}

function mapValues<T>(
  values: { readonly [name: string]: T },
  convert: (value: T) => T,
): { [name: string]: T } {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, convert(value)]))
}

/** Calls `attach`, which must be synchronous, so that everything that it adds can be undone. */
function attachTo(server: Server, id: string, attach: CustomExtensionOptions['attach']): void {
  const attached: unknown = attach?.(server)
  if (!(attached instanceof Promise)) return
  attached.catch(ignore)
  throw new TypeError(`"attach" of "${id}" must not be async`)
}

/** The handlers of the notifications that extensions define, by name, for each server. */
const handlersByServer = new WeakMap<ServerDefinition, Map<string, NotificationHandler>>()

/** Lets an extension handle its notifications. */
function receiveNotifications(
  definition: ServerDefinition,
  notifications: Readonly<Record<string, NotificationHandler>>,
  requireMet: CheckRequirements,
): void {
  const added = Object.entries(notifications)
  if (added.length === 0) return
  const handlers = handlersOf(definition)
  for (const [name, handle] of added) {
    handlers.set(name, (params, ctx) => {
      requireMet()
      return handle(params, ctx)
    })
  }
  definition.undo?.push(() => added.forEach(([name]) => handlers.delete(name)))
}

/** Returns the map of a server's notification handlers. The first call makes the server use them. */
function handlersOf(definition: ServerDefinition): Map<string, NotificationHandler> {
  const existing = handlersByServer.get(definition)
  if (existing) return existing
  const handlers = new Map<string, NotificationHandler>()
  handlersByServer.set(definition, handlers)
  definition.notifications = handlers
  const { receive } = definition
  definition.receive = async (message, sender, handle) => {
    const handler = handlers.get(message.method)
    const ctx = { principal: sender.caller.principal, client: sender.client }
    const handleMessage = handler
      ? ({ params = {} }: JsonRpcNotification) => handler(params, ctx)
      : handle
    try {
      // Middleware that was added before the extension wraps its notifications too
      await (receive ? receive(message, sender, handleMessage) : handleMessage?.(message))
    } catch (error) {
      definition.report(error)
    }
  }
  return handlers
}

/** The members that subscription filters have in the core protocol. */
const CORE_FILTER = /^(?:(?:tools|prompts|resources)ListChanged|resourceSubscriptions)$/

/** The requests that servers send, and the notifications of the protocol's own extensions. */
const RESERVED =
  /^(?:elicitation\/create|sampling\/createMessage|roots\/list|notifications\/(?:tasks|events)(?:\/.*)?)$/

/**
 * Checks that neither the protocol nor an extension has a method or notification with one of these
 * names, and that no name is used twice.
 */
function requireFree(definition: ServerDefinition, names: readonly string[]): void {
  const taken = names.find(
    (name, index) =>
      names.indexOf(name) < index ||
      coreMethods.has(name) ||
      isCoreNotification(name) ||
      handlersByServer.get(definition)?.has(name) ||
      revisions.some((revision) => definition.extensions?.method(name, revision)),
  )
  if (taken !== undefined) throw new TypeError(`The method "${taken}" exists already`)
  const reserved = names.find((name) => RESERVED.test(name))
  if (reserved !== undefined) throw new TypeError(`The method "${reserved}" is reserved`)
}

/** Checks that neither the protocol nor an extension has a filter member with one of these names. */
function requireFreeFilters({ extensions }: ServerDefinition, names: readonly string[]): void {
  const others = extensions instanceof ExtensionTable ? [...extensions.extensions.values()] : []
  const existing = new Set(others.flatMap(({ filters = {} }) => Object.keys(filters)))
  const taken = names.find((name) => CORE_FILTER.test(name) || existing.has(name))
  if (taken !== undefined) throw new TypeError(`The filter "${taken}" exists already`)
}
