/**
 * Events of a server: types that are defined once, and delivered by poll, stream and webhook.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { requireKnown, type OptionNames } from '../patterns/known-options.ts'
import { EVENTS_EXTENSION } from '../protocol/extension-ids.ts'
import type { StandardSchema } from '../protocol/standard-schema.ts'
import type { JsonObject, Result } from '../protocol/types.ts'
import { addExtension } from '../server/composition/extend.ts'
import type { ExtensionMethod } from '../server/composition/server-extension.ts'
import { fullDefinitionOf } from '../server/definition-of.ts'
import type { Context } from '../server/request/context.ts'
import type { RequestContext } from '../server/request/request-context.ts'
import type { ReplaceableRegistration } from '../server/registry.ts'
import type { Server } from '../server/server.ts'
import { createEvent, type EmitOptions } from './emit.ts'
import type { EventFailure } from './errors.ts'
import { ServerEventHost, unknownType } from './event-host.ts'
import { eventEntry, MODES, type EventEntry } from './event-type.ts'
import type { AttachedWebhooks, DeliverOptions } from './host.ts'
import { ListChanges, listEvents } from './list.ts'
import { MemoryEventLog } from './memory-log.ts'
import type { EventsOptions } from './options.ts'
import type { EventTypeHandle, ServerEvents } from './server-events.ts'
import type { EventTypeOptions } from './type-options.ts'
import { pollEvents } from './poll.ts'
import { PollLeases } from './poll-leases.ts'
import { TrimSchedule } from './trim-schedule.ts'
import type { DeliveryAttempt, EventStorage } from './storage.ts'
import { EventStreams, STREAM_PREFIX, type SubscriptionFilter } from './streams.ts'

const OPTION_NAMES: OptionNames<EventsOptions> = {
  storage: 1,
  webhooks: 1,
  errorCodes: 1,
  listChanged: 1,
  topLevelCapability: 1,
  legacy: 1,
  maxStreams: 1,
  maxStreamsPerPrincipal: 1,
  heartbeatMs: 1,
  compare: 1,
  profile: 1,
  sources: 1,
}

const FILTER_NAMES: OptionNames<SubscriptionFilter> = { principal: 1, id: 1, name: 1 }

/**
 * Creates the events of a server; pass it to `server.extend`, once.
 *
 * @example
 * ```ts
 * import { createServer } from 'edgewise/server'
 * import { events } from 'edgewise/events'
 * import * as z from 'zod'
 *
 * const server = createServer({ name: 'billing', version: '1.0.0' })
 * const billing = events()
 * const created = billing.type('invoice.created', {
 *   description: 'An invoice was created',
 *   payload: z.object({ id: z.string(), total: z.number() }),
 * })
 * server.extend(billing)
 *
 * await created.emit({ id: 'in_1', total: 120 }, { eventId: 'in_1' })
 * ```
 *
 * @throws {TypeError} If an option is unknown or invalid.
 * @throws {RangeError} If a limit is negative or not a number.
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
export function events(options: EventsOptions = {}): ServerEvents {
  return new ServerEventTypes(options)
}

type Handle = (params: JsonObject, ctx: RequestContext) => Result | Promise<Result>

class ServerEventTypes implements ServerEvents {
  readonly #options: EventsOptions
  readonly #host: ServerEventHost
  readonly #storage: EventStorage | undefined
  readonly #changes: ListChanges
  readonly #trimming: TrimSchedule
  readonly #webhooks: AttachedWebhooks | undefined
  readonly #streams: EventStreams
  readonly #leases: PollLeases

  constructor(options: EventsOptions) {
    requireKnown('events', options, OPTION_NAMES)
    const { webhooks } = options
    const storage = options.storage ?? webhooks?.createStorage()
    const { listChanged = true } = options
    if (typeof listChanged !== 'boolean') throw new TypeError('"listChanged" must be a boolean')
    this.#options = options
    this.#host = new ServerEventHost(storage ?? new MemoryEventLog(), options)
    this.#changes = new ListChanges(listChanged)
    this.#trimming = new TrimSchedule(this.#host)
    this.#storage = storage
    if (storage) {
      const host = Object.assign(this.#host, { storage })
      this.#webhooks = webhooks?.attach(host)
    }
    const { heartbeatMs = 25_000, maxStreams = 10_000, maxStreamsPerPrincipal = 100 } = options
    // False for `NaN`
    const areLimits = heartbeatMs > 0 && maxStreams >= 0 && maxStreamsPerPrincipal >= 0
    if (!areLimits) {
      throw new RangeError('"heartbeatMs" must be above 0, and limits must not be negative')
    }
    const streamLimits = { heartbeatMs, maxStreams, maxStreamsPerPrincipal }
    this.#streams = new EventStreams(this.#host, streamLimits)
    this.#leases = new PollLeases(this.#host)
  }

  addTo(server: Server): void {
    const host = this.#host
    if (host.definition) throw new TypeError('These events belong to another server')
    const definition = fullDefinitionOf(server)
    const { listChanged = true, topLevelCapability = true, legacy = false } = this.#options
    const settings = listChanged ? { listChanged } : {}
    const webhooks = this.#webhooks
    const method = (answer: Handle, inSessions = false): ExtensionMethod => {
      const handle = (params: JsonObject, ctx: Context): ReturnType<Handle> =>
        answer(params, ctx as RequestContext)
      return {
        scopes: ({ name }) => host.types.entries().get(String(name))?.scopes ?? [],
        handle,
        ...(inSessions && { legacy: handle }),
      }
    }
    addExtension(server, {
      id: EVENTS_EXTENSION,
      era: 'modern',
      serverOnly: true,
      settings,
      capabilities(era) {
        const declared = era === 'modern' ? topLevelCapability && settings : legacy && {}
        return declared ? { events: declared } : {}
      },
      methods: {
        'events/list': method((params, ctx) => listEvents(host, params, ctx), legacy),
        'events/poll': method((params, ctx) => pollEvents(host, this.#leases, params, ctx)),
        'events/stream': method((params, ctx) => this.#streams.stream(params, ctx)),
        'events/subscribe': method(async (params, ctx) => {
          if (webhooks) return webhooks.subscribe(params, ctx)
          await host.open(params, 'webhook', ctx)
          return {}
        }, legacy),
        'events/unsubscribe': method(
          (params, ctx) => webhooks?.unsubscribe(params, ctx) ?? {},
          legacy,
        ),
      },
      filters: { eventsListChanged: this.#changes.filter() },
    })
    host.definition = definition
    webhooks?.start()
  }

  type<Input extends StandardSchema, Payload extends StandardSchema>(
    name: string,
    options: EventTypeOptions<Input, Payload>,
  ): EventTypeHandle<Payload> {
    const entry = this.#entry(name, options)
    const registration = this.#host.types.add(name, entry)
    this.#changes.announce()
    return {
      name,
      emit: (payload, about = {}) => this.#emit(name, payload, about),
      update: (replacement) => this.#update(registration, name, replacement),
      remove: () => this.#remove(registration, name),
    }
  }

  async deliveries(subscriptionId: string): Promise<readonly DeliveryAttempt[]> {
    return this.#storage?.attempts(subscriptionId, 100) ?? []
  }

  async revoke(filter: SubscriptionFilter, reason = 'access_revoked'): Promise<void> {
    requireKnown('"revoke"', filter, FILTER_NAMES)
    if ((filter.principal ?? filter.id ?? filter.name) === undefined) {
      throw new TypeError('Cannot revoke without a principal, id or name')
    }
    await this.#terminate(filter, {
      kind: 'Forbidden',
      message: 'The subscription was revoked',
      data: { reason },
    })
  }

  async deliver(options: Partial<DeliverOptions> = {}): Promise<number | undefined> {
    const storage = this.#storage
    return storage && this.#webhooks?.deliver({ storage, ...options })
  }

  async close(): Promise<void> {
    this.#streams.close()
    this.#leases.close()
    await this.#webhooks?.close()
  }

  /** @throws {TypeError} If an option is invalid. */
  #entry(name: string, options: EventTypeOptions): EventEntry {
    const { profile, sources } = this.#options
    if (options.poll && !sources) {
      throw new TypeError(`"${name}" has "poll": pass "sources: pollSources" to "events"`)
    }
    const serverModes = MODES.filter((mode) =>
      mode === 'webhook' ? this.#webhooks : profile !== 'chatgpt',
    )
    return eventEntry(name, options, serverModes)
  }

  async #emit(name: string, payload: unknown, about: EmitOptions): Promise<void> {
    const entry = this.#host.types.entries().get(name)
    if (!entry) throw this.#host.failure(unknownType(name))
    const report = (error: unknown): void => this.#host.report(error)
    const event = await createEvent(entry, payload, about, report)
    if (event.to !== undefined && !(await this.#isKnown(event.to, name))) {
      this.#host.report(new TypeError(`Cannot emit "${name}" to "${event.to}": it has ended`))
      return
    }
    await this.#host.log.append(event)
    this.#webhooks?.wake()
    await this.#trimming.appended(entry)
  }

  /** Whether a subscription may exist: streams may belong to another process. */
  async #isKnown(id: string, name: string): Promise<boolean> {
    if (id.startsWith(STREAM_PREFIX)) return this.#host.log.durable || this.#streams.has(id)
    return (await this.#storage?.load(id, name)) !== undefined
  }

  #update(
    registration: ReplaceableRegistration<EventEntry>,
    name: string,
    options: EventTypeOptions,
  ): void {
    const previous = this.#host.types.entries().get(name)
    if (!previous) throw new TypeError(`The event type "${name}" was removed`)
    const entry = this.#entry(name, options)
    registration.replace(entry)
    if (JSON.stringify(entry.item) !== JSON.stringify(previous.item)) this.#changes.announce()
    const [change] = this.#options.compare?.(previous.item, entry.item) ?? []
    if (change) this.#end({ name }, this.#host.schemaFailure(previous, change.feature))
  }

  #remove(registration: ReplaceableRegistration<EventEntry>, name: string): void {
    registration.remove()
    this.#changes.announce()
    this.#end({ name }, unknownType(name))
  }

  /** Ends subscriptions in the background. */
  #end(filter: SubscriptionFilter, failure: EventFailure): void {
    this.#terminate(filter, failure).catch((error: unknown) => this.#host.report(error))
  }

  async #terminate(filter: SubscriptionFilter, failure: EventFailure): Promise<void> {
    this.#streams.terminate(filter, failure)
    this.#leases.terminate(filter, failure)
    await this.#webhooks?.terminate(filter, this.#host.failure(failure))
  }
}
