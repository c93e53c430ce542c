/**
 * Creates the host of a server's events: its event types, and the functions that its delivery modes share.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { callHook } from '../patterns/hooks.ts'
import { wellFormedJson } from '../protocol/well-formed-json.ts'
import type { ServerDefinition } from '../server/definition.ts'
import type { ServerOperation } from '../server/observed-messages.ts'
import { Registry } from '../server/registry.ts'
import type { RequestContext } from '../server/request/request-context.ts'
import { invalidParams, readNameAndArguments } from '../server/request/params.ts'
import { callApplication } from './call-application.ts'
import { sealedCursors } from './cursors.ts'
import {
  EventProtocolError,
  forClient,
  requireCodes,
  unknownType,
  type EventErrorCodes,
} from './errors.ts'
import type { EventEntry, ReadContext } from './event-entry.ts'
import { validArguments } from './validate.ts'
import type { EventHost, OpenSubscription } from './host.ts'
import type { EventTypeOptions } from './type-options.ts'
import type { EventLog } from './storage.ts'
import type { DeliveryMode } from './wire.ts'

/** The maximum size of the arguments of a subscription, as JSON, in UTF-16 units. */
const MAX_ARGUMENTS_LENGTH = 65_536

/** The beginning of the ids of streams. */
export const STREAM_PREFIX = 'stream_'

/** Selects the subscriptions with all given members. */
export interface SubscriptionFilter {
  readonly principal?: string
  /** The id of a subscription. */
  readonly id?: string
  /** The name of the event type. */
  readonly name?: string
}

/** The {@link EventHost} of one server, with the members that only the events of the server itself use. */
export interface ServerEventHost extends Omit<EventHost, 'storage'> {
  readonly log: EventLog
  readonly types: Registry<EventEntry>
  /** The definition of the server; `undefined` until the extension has been added to the server. */
  definition: ServerDefinition | undefined
  /**
   * Calls the type's `authorize` again, to check that a subscriber may still receive events.
   *
   * @throws {ProtocolError} NotFound or Forbidden.
   */
  authorize(subscription: OpenSubscription): Promise<void>
  /** Whether a stream with this id is open. */
  isOpen(id: string): boolean
  /** Ends streams and polled subscriptions. With an error, their clients must not continue them. */
  end(filter: SubscriptionFilter, error?: Error): void
  /** The error for a type that does not exist. */
  unknownType(name: string): Error
  /** The error for subscriptions to a type whose schema has changed incompatibly. */
  schemaChanged(feature: string): Error
  /** Gives an error the code that the client knows. */
  forClient(error: unknown, ctx: RequestContext): unknown
}

/**
 * Creates the host of the delivery modes.
 *
 * @throws {TypeError} If an error code is missing, or the profile is unknown.
 */
export function createEventHost(
  log: EventLog,
  { errorCodes, profile }: { errorCodes?: EventErrorCodes; profile?: 'chatgpt' },
): ServerEventHost {
  if (profile !== undefined && profile !== 'chatgpt') {
    throw new TypeError('"profile" must be "chatgpt"')
  }
  // ChatGPT uses the error codes of the first draft of the extension
  const codes: EventErrorCodes | undefined = errorCodes ?? (profile && 'sketch')
  if (codes !== undefined) requireCodes(codes)
  const cursors = sealedCursors(log)
  const types = new Registry<EventEntry>('event type', () => {})
  /** For each subscription, its event type at the time of opening, and its validated arguments. */
  const opened = new WeakMap<OpenSubscription, { entry: EventEntry; input: unknown }>()
  /** The open streams and polled subscriptions, each with the function that ends it. */
  const openSubscriptions = new Map<unknown, [OpenSubscription, (error?: Error) => void]>()

  const host: ServerEventHost = {
    log,
    profile,
    types,
    definition: undefined,

    async open(params, mode, ctx, { beforeModeCheck, beforeAuthorize } = {}) {
      const { name, args } = readNameAndArguments(params)
      const entry = types.find(name, ctx)
      if (!entry) throw host.unknownType(name)
      beforeModeCheck?.()
      if (!entry.item.delivery.includes(mode) || !canServe(mode, ctx)) {
        const message = `Events of the type "${name}" cannot be received by "${mode}"`
        throw host.error('Unsupported', message, { feature: 'deliveryMode', value: mode })
      }
      if (wellFormedJson(args).length > MAX_ARGUMENTS_LENGTH) {
        throw invalidParams(`"arguments" must be shorter than ${MAX_ARGUMENTS_LENGTH} characters`)
      }
      const { principal, auth, env } = ctx
      const subscription = { name, arguments: args, subscriber: { principal, auth, env } }
      const input = await validArguments(entry, args, (fault) =>
        invalidParams(`Invalid arguments for the event type "${name}": ${fault}`),
      )
      opened.set(subscription, { entry, input })
      await beforeAuthorize?.()
      await host.authorize(subscription)
      return subscription
    },

    async reopen(stored) {
      const { name, subscriber } = stored
      const entry = types.find(name, subscriber)
      if (!entry) throw host.unknownType(name)
      const createError = (): Error => host.schemaChanged('inputSchema')
      const input = await validArguments(entry, stored.arguments, createError)
      opened.set(stored, { entry, input })
      await host.authorize(stored)
      return stored
    },

    async authorize(subscription) {
      const { entry, input } = readContextOf(subscription)
      const { authorize } = entry.options
      const request = { ...subscription.subscriber, arguments: input }
      if (!authorize || (await callApplication(() => authorize(request), 'authorize'))) return
      throw host.error('Forbidden', 'The caller may not receive these events', {})
    },

    async start(subscription, { cursor, maxAgeMs }) {
      if (maxAgeMs !== undefined && !(Number.isSafeInteger(maxAgeMs) && Number(maxAgeMs) >= 0)) {
        throw invalidParams('"maxAgeMs" must be a whole number of milliseconds')
      }
      const context = readContextOf(subscription)
      const { reader, changes, options } = context.entry
      const isNew = cursor === undefined || cursor === null
      const contents = isNew ? null : await cursors.open(cursor, subscription.name)
      // The first schema that changed incompatibly after the cursor was created
      const changedSchema = contents && changes[contents.epoch]
      if (changedSchema) throw host.schemaChanged(changedSchema)
      const position = isNew || options.history === false ? null : contents?.position
      return reader.start(context, position, maxAgeMs as number | undefined)
    },

    async next(subscription, position, limit, stopsAtFailure) {
      const context = readContextOf(subscription, stopsAtFailure)
      return context.entry.reader.read(context, position, limit)
    },

    async cursorOf({ name }, position) {
      const entry = types.entries().get(name)
      if (!entry || entry.options.history === false || position === null) return null
      return cursors.seal({ name, position, epoch: entry.changes.length })
    },

    async subscribed(subscription, mode = 'webhook', end) {
      const { onSubscribe } = optionsOf(subscription)
      if (onSubscribe) await callApplication(async () => onSubscribe(subscription), 'onSubscribe')
      const key = keyOf(subscription)
      if (end) openSubscriptions.set(key, [subscription, end])
      host.observe?.open(key, operationOf(subscription, mode))
    },

    unsubscribed(subscription, mode = 'webhook') {
      const { onUnsubscribe } = optionsOf(subscription)
      callHook(() => onUnsubscribe?.(subscription), host.report)
      const key = keyOf(subscription)
      openSubscriptions.delete(key)
      host.observe?.close(key, operationOf(subscription, mode))
    },

    isOpen: (id) => openSubscriptions.has(id),

    end({ id, name, principal }, error) {
      for (const [subscription, end] of openSubscriptions.values()) {
        const isSelected =
          (id ?? subscription.id) === subscription.id &&
          (name ?? subscription.name) === subscription.name &&
          (principal ?? subscription.subscriber.principal) === subscription.subscriber.principal
        if (isSelected) end(error)
      }
    },

    error: (kind, message, data) => new EventProtocolError(kind, message, data, codes),
    unknownType: (name) => unknownType(name, codes),
    schemaChanged(feature) {
      const data = { feature, reason: 'schema_changed' }
      return host.error('Unsupported', 'The schema of the event type has changed', data)
    },
    forClient: (error, ctx) => (codes === undefined ? forClient(error, ctx) : error),

    report(error) {
      if (host.definition) host.definition.report(error)
      else console.error(error)
    },

    get observe() {
      return host.definition?.observe
    },
  }
  return host

  /** @throws {ProtocolError} NotFound if the type was removed. */
  function readContextOf(subscription: OpenSubscription, stopsAtFailure = false): ReadContext {
    const { name, log: ownLog = log } = subscription
    const entry = types.entries().get(name)
    if (!entry) throw host.unknownType(name)
    const input = opened.get(subscription)?.input
    return { log: ownLog, entry, subscription, input, stopsAtFailure, report: host.report }
  }

  /** The options of the subscription's event type, even after the type was removed. */
  function optionsOf(subscription: OpenSubscription): EventTypeOptions {
    const entry = types.entries().get(subscription.name) ?? opened.get(subscription)?.entry
    return entry?.options ?? {}
  }
}

/** Whether the revision and the connection of a request allow a delivery mode. */
export function canServe(mode: DeliveryMode, { exchange }: RequestContext): boolean {
  if (mode === 'webhook') return true
  return exchange.revision.era === 'modern' && (mode === 'poll' || exchange.canStream !== false)
}

/** Describes a subscription to an observer. */
function operationOf({ name, subscriber }: OpenSubscription, mode: DeliveryMode): ServerOperation {
  return { type: 'subscription', name, mode, principal: subscriber.principal }
}

/** Identifies a subscription. A polled subscription has no id, but is always the same object. */
function keyOf(subscription: OpenSubscription): unknown {
  return subscription.id ?? subscription
}
