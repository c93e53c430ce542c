/**
 * The event types of a server, and what its delivery modes share.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { callHook } from '../patterns/hooks.ts'
import type { JsonObject } from '../protocol/types.ts'
import { wellFormedJson } from '../protocol/well-formed-json.ts'
import type { ServerDefinition } from '../server/definition.ts'
import type { ServerOperation } from '../server/observed-messages.ts'
import type { ServerObservation } from '../server/observer.ts'
import { Registry } from '../server/registry.ts'
import type { RequestContext } from '../server/request/request-context.ts'
import { invalidParams, readNameAndArguments } from '../server/request/params.ts'
import { callAuthor } from './author.ts'
import { Cursors, isCursor } from './cursors.ts'
import { eventError, type EventErrorCodes, type EventFailure } from './errors.ts'
import { check, type EventEntry } from './event-type.ts'
import type {
  EventErrorKind,
  EventHost,
  NextEvents,
  OpenSubscription,
  Start,
  SubscribeChecks,
} from './host.ts'
import type { EventSources, EventsOptions } from './options.ts'
import type { EventTypeOptions } from './type-options.ts'
import { readLog, type Reader } from './reader.ts'
import { headOf, positionSince } from './replay.ts'
import type { EventLog, Position } from './storage.ts'
import type { DeliveryMode } from './wire.ts'

/** The maximum size of the arguments of a subscription, as JSON, in UTF-16 units. */
const MAX_ARGUMENTS_LENGTH = 65_536
const DAY_MS = 86_400_000
/** The number of events that are read at once to find where a subscription begins. */
const PAGE = 100

/** The error for event types that do not exist, or that the caller may not see. */
export function unknownType(name: string): EventFailure {
  return { kind: 'NotFound', message: `Unknown event type: "${name}"`, data: { kind: 'event' } }
}

/** The error for subscriptions to a type whose schema has changed incompatibly. */
function schemaChanged(feature: string): EventFailure {
  const data = { feature, reason: 'schema_changed' }
  return { kind: 'Unsupported', message: 'The schema of the event type has changed', data }
}

/** The event types of one server, and their subscriptions. */
export class ServerEventHost implements Omit<EventHost, 'storage'> {
  readonly log: EventLog
  readonly profile: 'chatgpt' | undefined
  readonly types: Registry<EventEntry> = new Registry<EventEntry>('event type', () => {})
  /** The server, once it was extended. */
  definition: ServerDefinition | undefined
  readonly #codes: EventErrorCodes | undefined
  readonly #sources: EventSources | undefined
  readonly #cursors: Cursors
  /** The types of subscriptions when they were opened, and their validated arguments. */
  readonly #opened = new WeakMap<OpenSubscription, { entry: EventEntry; input: unknown }>()
  /** The feature whose change was incompatible, by the type and its previous schemas. */
  readonly #broken = new Map<string, string>()

  constructor(log: EventLog, { errorCodes, profile, sources }: EventsOptions) {
    this.log = log
    // ChatGPT knows the codes of the design sketch
    this.#codes = errorCodes ?? (profile && 'sketch')
    this.profile = profile
    this.#sources = sources
    this.#cursors = new Cursors(log)
  }

  pollMs(name: string): number | null {
    const entry = this.types.entries().get(name)
    return entry?.options.poll ? entry.pollMs : null
  }

  async open(
    params: JsonObject,
    mode: DeliveryMode,
    ctx: RequestContext,
    checks: SubscribeChecks = {},
  ): Promise<OpenSubscription> {
    const { name, args } = readNameAndArguments(params)
    const entry = this.types.find(name, ctx)
    if (!entry) throw this.failure(unknownType(name), ctx)
    checks.beforeModes?.()
    if (!entry.item.delivery.includes(mode) || !canServe(mode, ctx)) {
      const message = `Events of the type "${name}" cannot be received by "${mode}"`
      throw this.error('Unsupported', message, { feature: 'deliveryMode', value: mode }, ctx)
    }
    if (wellFormedJson(args).length > MAX_ARGUMENTS_LENGTH) {
      throw invalidParams(`"arguments" must be shorter than ${MAX_ARGUMENTS_LENGTH} characters`)
    }
    const { principal, auth, env } = ctx
    const subscription = { name, arguments: args, subscriber: { principal, auth, env } }
    const checked = await check(entry.input, args)
    if (checked.fault !== undefined) {
      throw invalidParams(`Invalid arguments for the event type "${name}": ${checked.fault}`)
    }
    this.#opened.set(subscription, { entry, input: checked.value })
    await checks.beforeAuthorize?.()
    await this.authorize(subscription, ctx)
    return subscription
  }

  async reopen(stored: OpenSubscription): Promise<OpenSubscription> {
    const { name, subscriber } = stored
    const entry = this.types.find(name, subscriber)
    if (!entry) throw this.failure(unknownType(name))
    const checked = await check(entry.input, stored.arguments)
    if (checked.fault !== undefined) throw this.failure(schemaChanged('inputSchema'))
    this.#opened.set(stored, { entry, input: checked.value })
    await this.authorize(stored)
    return stored
  }

  /**
   * Asks the author again whether a subscriber may receive events.
   *
   * @throws {ProtocolError} NotFound or Forbidden.
   */
  async authorize(subscription: OpenSubscription, ctx?: RequestContext): Promise<void> {
    const { subscriber } = subscription
    const { options } = this.#entryOf(subscription, ctx)
    const request = { ...subscriber, arguments: this.#opened.get(subscription)?.input }
    const { authorize } = options
    if (!authorize || (await callAuthor(() => authorize(request), 'authorize'))) return
    throw this.error('Forbidden', 'The caller may not receive these events', {}, ctx)
  }

  async start(
    subscription: OpenSubscription,
    params: JsonObject,
    ctx?: RequestContext,
  ): Promise<Start> {
    const { cursor, maxAgeMs = Number.MAX_SAFE_INTEGER } = params
    if (!Number.isSafeInteger(maxAgeMs) || (maxAgeMs as number) < 0) {
      throw invalidParams('"maxAgeMs" must be a whole number of milliseconds')
    }
    const entry = this.#entryOf(subscription)
    const { history } = entry.options
    const source = this.#sourceOf(entry)
    const now = async (truncated: boolean): Promise<Start> => {
      const { position } = source
        ? await this.next(subscription, null, 0)
        : { position: await headOf(this.log, entry.item.name) }
      return { position, truncated }
    }
    if (cursor === undefined || cursor === null) return now(false)
    const opened = isCursor(cursor) ? await this.#cursors.open(cursor) : undefined
    const isForeign = !opened && (this.log.durable || !isCursor(cursor))
    if (isForeign || (opened && opened.name !== subscription.name)) {
      throw invalidParams('The cursor is not from this server, or belongs to another event type')
    }
    const broken = opened && this.#broken.get(brokenKey(opened.name, opened.checksum))
    if (broken !== undefined) throw this.failure(schemaChanged(broken), ctx)
    if (history === false) return now(false)
    if (source) {
      if (typeof opened?.position !== 'string') return now(true)
      const start = { position: opened.position, truncated: false }
      if (params.maxAgeMs === undefined) return start
      const since = Date.now() - (maxAgeMs as number)
      return source.skipOld((from) => this.next(subscription, from, PAGE), start.position, since)
    }
    // A log in memory began again with this process
    const from = typeof opened?.position === 'number' ? opened.position : 0
    const { trimmedTo, head } = await this.log.read(entry.item.name, from, 1)
    // An older backup of the log was restored
    if (from > head) return { position: head, truncated: true }
    const firstStored = Math.max(from, trimmedTo)
    const age = Math.min(maxAgeMs as number, history?.maxAgeMs ?? DAY_MS)
    const position = await positionSince(this.log, subscription.name, firstStored, Date.now() - age)
    return { position, truncated: !opened || position > from }
  }

  async next(
    subscription: OpenSubscription,
    position: Position,
    limit: number,
    stopsAtFailure = false,
  ): Promise<NextEvents> {
    const reader = this.#reader(subscription, stopsAtFailure)
    const source = this.#sourceOf(reader.entry)
    if (source) return source.read(reader, position, limit)
    return readLog(reader, typeof position === 'number' ? position : 0, limit)
  }

  async cursorOf({ name }: OpenSubscription, position: Position): Promise<string | null> {
    const entry = this.types.entries().get(name)
    if (!entry || entry.options.history === false || position === null) return null
    return this.#cursors.seal({ name, position, checksum: entry.checksum })
  }

  async subscribed(subscription: OpenSubscription, mode: DeliveryMode = 'webhook'): Promise<void> {
    const { onSubscribe } = this.#hooksOf(subscription)
    if (onSubscribe) await callAuthor(async () => onSubscribe(subscription), 'onSubscribe')
    this.observe?.open(keyOf(subscription), operationOf(subscription, mode))
  }

  unsubscribed(subscription: OpenSubscription, mode: DeliveryMode = 'webhook'): void {
    const { onUnsubscribe } = this.#hooksOf(subscription)
    callHook(
      () => onUnsubscribe?.(subscription),
      (error) => this.report(error),
    )
    this.observe?.close(keyOf(subscription), operationOf(subscription, mode))
  }

  error(kind: EventErrorKind, message: string, data: JsonObject, ctx?: RequestContext): Error {
    return this.failure({ kind, message, data }, ctx)
  }

  /** Creates an error with the code that this client knows. */
  failure(failure: EventFailure, ctx?: RequestContext): Error {
    return eventError(failure, this.#codes, ctx)
  }

  report(error: unknown): void {
    if (this.definition) this.definition.report(error)
    else console.error(error)
  }

  get observe(): ServerObservation | undefined {
    return this.definition?.observe
  }

  /** Returns the error for subscriptions to the old schema, and remembers it for their cursors. */
  schemaFailure({ item: { name }, checksum }: EventEntry, feature: string): EventFailure {
    this.#broken.set(brokenKey(name, checksum), feature)
    return schemaChanged(feature)
  }

  /** @throws {ProtocolError} NotFound if the type was removed. */
  #entryOf({ name }: OpenSubscription, ctx?: RequestContext): EventEntry {
    const entry = this.types.entries().get(name)
    if (entry) return entry
    throw this.failure(unknownType(name), ctx)
  }

  /** The options of the type, also after it was removed. */
  #hooksOf(subscription: OpenSubscription): EventTypeOptions {
    const entry = this.types.entries().get(subscription.name)
    return (entry ?? this.#opened.get(subscription)?.entry)?.options ?? {}
  }

  #reader(subscription: OpenSubscription, stopsAtFailure: boolean): Reader {
    const entry = this.#entryOf(subscription)
    const input = this.#opened.get(subscription)?.input
    const report = (error: unknown): void => this.report(error)
    return { log: subscription.log ?? this.log, entry, subscription, input, stopsAtFailure, report }
  }

  /** Whether the events of a type are pulled, and how. */
  #sourceOf({ options }: EventEntry): EventSources | undefined {
    return options.poll && this.#sources
  }
}

/** Whether events can be delivered to this client in a way that the type has. */
export function canServe(mode: DeliveryMode, { exchange }: RequestContext): boolean {
  if (mode === 'webhook') return true
  return exchange.revision.era === 'modern' && (mode === 'poll' || exchange.canStream !== false)
}

/** Describes a subscription to an observer. */
function operationOf({ name, subscriber }: OpenSubscription, mode: DeliveryMode): ServerOperation {
  return { type: 'subscription', name, mode, principal: subscriber.principal }
}

/** Identifies a subscription. Polled ones have no id, but are always the same object. */
function keyOf(subscription: OpenSubscription): unknown {
  return subscription.id ?? subscription
}

function brokenKey(name: string, checksum: string): string {
  return `${checksum} ${name}`
}
