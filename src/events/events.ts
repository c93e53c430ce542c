/**
 * The events of a server. The application defines event types, and clients receive events by poll, stream or
 * webhook.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { callHook } from '../patterns/hooks.ts'
import { requireKnown, type OptionNames } from '../patterns/known-options.ts'
import { EVENTS_EXTENSION } from '../protocol/extension-ids.ts'
import type { JsonObject, Result } from '../protocol/types.ts'
import { addExtension } from '../server/composition/extend.ts'
import type { ExtensionMethod } from '../server/composition/server-extension.ts'
import { fullDefinitionOf } from '../server/definition-of.ts'
import type { Context } from '../server/request/context.ts'
import type { RequestContext } from '../server/request/request-context.ts'
import { createEvent, type EmitOptions } from './emit.ts'
import { createEventHost, STREAM_PREFIX, type SubscriptionFilter } from './server-event-host.ts'
import type { EventEntry } from './event-entry.ts'
import { eventEntry, MODES } from './event-type.ts'
import { createListNotifier, listEvents } from './list.ts'
import { MemoryEventLog } from './memory-log.ts'
import type { EventsOptions } from './options.ts'
import { pollEvents } from './poll.ts'
import { pollLeases } from './poll-leases.ts'
import type { ServerEvents } from './server-events.ts'
import type { EventTypeOptions } from './type-options.ts'
import type { DeliveryMode } from './wire.ts'

/** The names of the options. The values have no meaning. */
const OPTION_NAMES: OptionNames<EventsOptions> = {
  storage: 1,
  streams: 1,
  webhooks: 1,
  errorCodes: 1,
  listChanged: 1,
  topLevelCapability: 1,
  legacy: 1,
  compare: 1,
  profile: 1,
  sources: 1,
}

/** While new events are appended, old events are deleted at least this often, in milliseconds. */
const TRIM_MS = 60_000

/** The names of the members of the filter of `revoke`. The values have no meaning. */
const FILTER_NAMES: OptionNames<SubscriptionFilter> = { principal: 1, id: 1, name: 1 }

/**
 * Creates the events of a server. Pass the returned object to `server.extend`, once.
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
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
export function events(options: EventsOptions = {}): ServerEvents {
  requireKnown('events', options, OPTION_NAMES)
  const { listChanged = true, topLevelCapability = true, legacy = false, profile } = options
  if (typeof listChanged !== 'boolean') throw new TypeError('"listChanged" must be a boolean')
  const storage = options.storage ?? options.webhooks?.createStorage()
  const log = storage ?? new MemoryEventLog()
  const host = createEventHost(log, options)
  const webhooks = storage && options.webhooks?.attach(Object.assign(host, { storage }))
  const listNotifier = createListNotifier(listChanged)
  const renewLease = pollLeases(host)
  const stream = options.streams?.(host)
  const { types, report } = host
  /** For each event type, when its log was last trimmed, and how many events were appended since then. */
  const trimmed = new Map<string, { readonly count: number; readonly at: number }>()

  return {
    addTo(server) {
      if (host.definition) throw new TypeError('These events belong to another server')
      const definition = fullDefinitionOf(server)
      const settings = listChanged ? { listChanged } : {}
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
          'events/poll': method((params, ctx) => pollEvents(host, renewLease, params, ctx)),
          'events/stream': method(stream ?? refuse('push')),
          'events/subscribe': method(webhooks?.subscribe ?? refuse('webhook'), legacy),
          'events/unsubscribe': method(webhooks?.unsubscribe ?? (() => ({})), legacy),
        },
        filters: { eventsListChanged: listNotifier.filter },
      })
      host.definition = definition
      webhooks?.start()
    },

    type(name, typeOptions) {
      const registration = types.add(name, createEntry(name, typeOptions))
      listNotifier.announce()
      return {
        name,
        emit: (payload, emitOptions = {}) => emit(name, payload, emitOptions),
        update(replacement) {
          const previous = types.entries().get(name)
          if (!previous) throw new TypeError(`The event type "${name}" was removed`)
          const entry = createEntry(name, replacement)
          const change = options.compare?.(previous.item, entry.item)[0]
          const changes = change ? [...previous.changes, change.feature] : previous.changes
          registration.replace({ ...entry, changes })
          if (JSON.stringify(entry.item) !== JSON.stringify(previous.item)) listNotifier.announce()
          if (change) end({ name }, host.schemaChanged(change.feature))
        },
        remove() {
          registration.remove()
          listNotifier.announce()
          end({ name }, host.unknownType(name))
        },
      }
    },

    async deliveries(subscriptionId) {
      return storage?.attempts(subscriptionId, 100) ?? []
    },

    async revoke(filter, reason = 'access_revoked') {
      requireKnown('"revoke"', filter, FILTER_NAMES)
      if ((filter.principal ?? filter.id ?? filter.name) === undefined) {
        throw new TypeError('Cannot revoke without a principal, id or name')
      }
      await terminate(filter, host.error('Forbidden', 'The subscription was revoked', { reason }))
    },

    async deliver(deliverOptions = {}) {
      return storage && webhooks?.deliver({ storage, ...deliverOptions })
    },

    async close() {
      host.end({})
      await webhooks?.close()
    },
  }

  /**
   * Creates a method of the server. Its errors have the codes that the calling client knows.
   *
   * @param inSessions Whether the method also exists in revisions with sessions.
   */
  function method(answer: Answerer, inSessions = false): ExtensionMethod {
    const handle = async (params: JsonObject, ctx: Context): Promise<Result> => {
      const request = ctx as RequestContext
      try {
        return await answer(params, request)
      } catch (error) {
        throw host.forClient(error, request)
      }
    }
    return {
      scopes: ({ name }) => types.entries().get(String(name))?.scopes ?? [],
      handle,
      ...(inSessions && { legacy: handle }),
    }
  }

  /** Creates the answer to requests for a mode that the server does not have. `host.open` throws the error. */
  function refuse(mode: DeliveryMode): Answerer {
    return async (params, ctx) => {
      await host.open(params, mode, ctx)
      return {}
    }
  }

  /** @throws {TypeError} If an option is invalid. */
  function createEntry(name: string, typeOptions: EventTypeOptions): EventEntry {
    const offered = {
      poll: profile !== 'chatgpt',
      push: profile !== 'chatgpt' && stream,
      webhook: webhooks,
    }
    const served = MODES.filter((mode) => offered[mode])
    return eventEntry(name, typeOptions, served, options.sources)
  }

  async function emit(name: string, payload: unknown, emitOptions: EmitOptions): Promise<void> {
    const entry = types.entries().get(name)
    if (!entry) throw host.unknownType(name)
    const event = await createEvent(entry, payload, emitOptions, report)
    if (event.to !== undefined && !(await mayExist(event.to, name))) {
      report(new TypeError(`Cannot emit "${name}" to "${event.to}": it has ended`))
      return
    }
    await log.append(event)
    webhooks?.wake()
    await trim(entry)
  }

  /** Whether a subscription may exist. This process does not know the streams of other processes. */
  async function mayExist(id: string, name: string): Promise<boolean> {
    if (id.startsWith(STREAM_PREFIX)) return log.durable || host.isOpen(id)
    return (await storage?.load(id, name)) !== undefined
  }

  /** Deletes old events, but not at every call: only after many new events, or after some time. */
  async function trim({ item: { name }, maxAgeMs, maxEvents }: EventEntry): Promise<void> {
    const now = Date.now()
    const { count, at } = trimmed.get(name) ?? { count: 0, at: now }
    const isDue = count + 1 > maxEvents / 10 || now - at > TRIM_MS
    trimmed.set(name, isDue ? { count: 0, at: now } : { count: count + 1, at })
    if (!isDue) return
    try {
      await log.trim(name, { acceptedBefore: now - maxAgeMs, maxEvents })
    } catch (error) {
      report(error)
    }
  }

  /** Ends subscriptions in the background. */
  function end(filter: SubscriptionFilter, error: Error): void {
    callHook(() => terminate(filter, error), report)
  }

  async function terminate(filter: SubscriptionFilter, error: Error): Promise<void> {
    host.end(filter, error)
    await webhooks?.terminate(filter, error)
  }
}

/** Answers the requests of one method. */
type Answerer = (params: JsonObject, ctx: RequestContext) => Result | Promise<Result>
