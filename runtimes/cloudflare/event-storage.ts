/**
 * Events in Durable Objects. The log and the webhook subscriptions of an event type are in one object, which
 * delivers the events in its alarms. Several types may share an object.
 *
 * @see https://developers.cloudflare.com/durable-objects/api/alarms/
 */
import { env } from 'cloudflare:workers'
import type { EventStorage, ServerEvents, WebhookSubscription } from '#internal/events'
import { requireNamespace } from './bindings.ts'
import { eventsObject, type EventsObject } from './events-object.ts'
import { withObjectTimeout } from './object-timeout.ts'
import type { DurableObjectClass } from './session-object.ts'
import { jsonCopy } from './task-service.ts'

/** How events are stored in objects. */
export interface DurableObjectEventStorageOptions {
  /**
   * The name of the Durable Object binding.
   *
   * @default 'MCP_EVENTS'
   */
  binding?: string
  /**
   * The number of objects. Each event type belongs to one object, so more objects than event types
   * are of no use. Changing the number loses the stored events and subscriptions of the types that
   * move to another object.
   *
   * @default 1
   */
  shards?: number
}

/** A storage of events in Durable Objects. */
export interface DurableObjectEventStorage extends EventStorage {
  /** Creates the class of the objects, which the Worker must export as `McpEvents`. */
  durableObject(events: ServerEvents): DurableObjectClass
}

/**
 * Creates a storage of events in Durable Objects, for the option `storage` of `events`. An object delivers
 * to webhooks in its alarms, and need not stay in memory while nothing is due.
 *
 * @example
 * ```ts
 * import { createWorker, durableObjectEventStorage } from 'edgewise/cloudflare'
 * import { events } from 'edgewise/events'
 * import { createServer } from 'edgewise/server'
 *
 * const server = createServer({ name: 'billing', version: '1.0.0' })
 * const storage = durableObjectEventStorage()
 * const billing = events({ storage })
 * server.extend(billing)
 *
 * const worker = createWorker(server, { stateless: true })
 * export const McpEvents = storage.durableObject(billing)
 * export default worker
 * ```
 *
 * @throws {RangeError} If the number of objects is not a whole number above 0.
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
export function durableObjectEventStorage(
  options: DurableObjectEventStorageOptions = {},
): DurableObjectEventStorage {
  const { binding = 'MCP_EVENTS', shards = 1 } = options
  if (!Number.isSafeInteger(shards) || shards < 1) {
    throw new RangeError(`The option "shards" of the storage of events cannot be "${shards}"`)
  }
  const namespace = (): DurableObjectNamespace<EventsObject> =>
    requireNamespace<EventsObject>(env, binding, 'McpEvents')
  const objectAt = (shard: number): DurableObjectStub<EventsObject> =>
    namespace().get(namespace().idFromName(`events ${shard}`))
  const objectFor = (key: string): DurableObjectStub<EventsObject> => objectAt(hash(key) % shards)
  type Call<T> = (object: DurableObjectStub<EventsObject>) => Promise<T>
  /** Calls the object that a key belongs to. The key is the name of an event type, or the URL of a webhook. */
  const callObject = <T>(key: string, call: Call<T>): Promise<T> =>
    withObjectTimeout('events Durable Object', () => call(objectFor(key)))
  /** Calls all objects. */
  const callAll = <T>(call: Call<T>): Promise<T[]> =>
    Promise.all(
      Array.from({ length: shards }, (_, shard) =>
        withObjectTimeout('events Durable Object', () => call(objectAt(shard))),
      ),
    )
  /** Calls the object of an event type, or all objects if the type is not known. */
  const callOneOrAll = <T>(name: string | undefined, call: Call<T>): Promise<T[]> =>
    name === undefined ? callAll(call) : callObject(name, async (object) => [await call(object)])

  return {
    durable: true,
    deliversItself: true,
    durableObject: (events) => eventsObject(events),
    secret: () => withObjectTimeout('events Durable Object', () => objectAt(0).secret()),
    append: (event) => callObject(event.name, (object) => object.append(jsonCopy(event))),
    read: (name, after, limit) => callObject(name, (object) => object.read(name, after, limit)),
    trim: (name, limits) => callObject(name, (object) => object.trim(name, limits)),
    watch: (name, listener) => watch(objectFor(name), name, listener),
    async load(id, name) {
      const records = await callOneOrAll(name, (object) => object.load(id))
      return records.find((record) => record !== undefined)
    },
    save: (record) => callObject(record.name, (object) => object.save(jsonCopy(record))),
    remove: (record) => callObject(record.name, (object) => object.remove(jsonCopy(record))),
    async count(principal) {
      const counts = await callAll((object) => object.count(principal))
      return counts.reduce((sum, count) => sum + count, 0)
    },
    async list(query, limit, after) {
      const lists = await callOneOrAll<WebhookSubscription[]>(query.name, (object) =>
        object.list(query, limit, after),
      )
      return lists
        .flat()
        .sort((a, b) => (a.id < b.id ? -1 : 1))
        .slice(0, limit)
    },
    // The objects themselves claim the subscriptions with due deliveries, so there is nothing to claim here
    take: () => [],
    nextDue: () => undefined,
    async addAttempt(attempt, name) {
      await callOneOrAll(name, (object) => object.addAttempt(attempt))
    },
    async attempts(id, limit, name) {
      return (await callOneOrAll(name, (object) => object.attempts(id, limit))).flat()
    },
    verifiedUntil: (principal, url) =>
      callObject(url, (object) => object.verifiedUntil(principal, url)),
    setVerified: (principal, url, until) =>
      callObject(url, (object) => object.setVerified(principal, url, until)),
  }
}

/** Opens a socket on which the object reports new events. The object can hibernate while the socket is open. */
async function watch(
  object: DurableObjectStub<EventsObject>,
  name: string,
  listener: () => void,
): Promise<() => void> {
  const url = `https://events/${encodeURIComponent(name)}`
  const { webSocket } = await withObjectTimeout('events Durable Object', (signal) =>
    object.fetch(url, { headers: { upgrade: 'websocket' }, signal }),
  )
  if (!webSocket) throw new Error('The events Durable Object accepts no more streams now')
  webSocket.addEventListener('message', listener)
  // The listener is also called when the socket is lost, because it may have missed events
  webSocket.addEventListener('close', listener)
  webSocket.addEventListener('error', listener)
  webSocket.accept()
  return () => webSocket.close(1000, 'No listeners')
}

const FNV_OFFSET_BASIS = 0x811c9dc5
const FNV_PRIME = 0x01000193

/** Hashes a text with FNV-1a. The result is the same in every isolate. */
function hash(text: string): number {
  let value = FNV_OFFSET_BASIS
  for (const character of text) {
    value = Math.imul(value ^ (character.codePointAt(0) ?? 0), FNV_PRIME)
  }
  return value >>> 0
}
