/**
 * A Durable Object with the events of one or more event types. It stores the events, notifies the Workers that
 * serve event streams, and delivers to webhooks in its alarm handler.
 *
 * @see https://developers.cloudflare.com/durable-objects/api/alarms/
 */
import { DurableObject } from 'cloudflare:workers'
import type {
  DeliveryAttempt,
  EventStorage,
  LogPage,
  LoggedEvent,
  ServerEvents,
  SubscriptionQuery,
  TrimLimits,
  WebhookSubscription,
} from '#internal/events'
import { SqlEventStorage } from '../../src/sqlite/index.ts'
import { requireSql } from './bindings.ts'
import type { DurableObjectClass } from './session-object.ts'
import { sqlIn } from './sql.ts'

/** The methods of the object, as the Worker calls them. */
export interface EventsObject extends Rpc.DurableObjectBranded {
  secret(): Promise<string>
  append(event: LoggedEvent): Promise<number>
  read(name: string, after: number, limit: number): Promise<LogPage>
  trim(name: string, limits: TrimLimits): Promise<void>
  load(id: string): Promise<WebhookSubscription | undefined>
  save(subscription: WebhookSubscription): Promise<boolean>
  remove(subscription: WebhookSubscription): Promise<boolean>
  count(principal?: string): Promise<number>
  list(query: SubscriptionQuery, limit: number, after?: string): Promise<WebhookSubscription[]>
  addAttempt(attempt: DeliveryAttempt): Promise<void>
  attempts(id: string, limit: number): Promise<DeliveryAttempt[]>
  verifiedUntil(principal: string, url: string): Promise<number | undefined>
  setVerified(principal: string, url: string, until: number): Promise<void>
}

/** The maximum length of a socket's tag. */
const MAX_TAG_LENGTH = 256
/** The maximum number of streams that one object notifies. The platform allows 32,768 sockets. */
const MAX_SOCKETS = 30_000
/** How long one alarm delivers, in milliseconds. The platform ends an alarm after 15 minutes. */
const ALARM_MS = 600_000
/** The maximum number of requests that one alarm sends. The platform allows 1,000. */
const MAX_REQUESTS = 900
/** The delay of the next alarm after an alarm that failed, in milliseconds. */
const RETRY_MS = 30_000

/** Creates the class of the objects that store and deliver the events of a server. */
export function eventsObject(events: ServerEvents): DurableObjectClass {
  return class McpEvents
    extends DurableObject
    implements Omit<EventsObject, keyof Rpc.DurableObjectBranded>
  {
    readonly #storage: EventStorage

    constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
      super(ctx, env)
      this.#storage = new SqlEventStorage(sqlIn(requireSql(ctx.storage, 'McpEvents')))
    }

    /** Opens the socket of a stream. The socket does not keep the object in memory. */
    override fetch({ url, signal }: Request): Response {
      const isFull = this.ctx.getWebSockets().length >= MAX_SOCKETS
      if (signal.aborted || isFull) return new Response(null, { status: 503 })
      const name = decodeURIComponent(new URL(url).pathname.slice(1))
      const { 0: client, 1: socket } = new WebSocketPair()
      this.ctx.acceptWebSocket(socket, [tagOf(name)])
      return new Response(null, { status: 101, webSocket: client })
    }

    override webSocketMessage(): void {}

    override webSocketClose(socket: WebSocket): void {
      socket.close()
    }

    async secret(): Promise<string> {
      return this.#storage.secret()
    }

    async append(event: LoggedEvent): Promise<number> {
      const position = await this.#storage.append(event)
      for (const socket of this.ctx.getWebSockets(tagOf(event.name))) notify(socket)
      await this.#setAlarm()
      return position
    }

    async read(name: string, after: number, limit: number): Promise<LogPage> {
      return this.#storage.read(name, after, limit)
    }

    async trim(name: string, limits: TrimLimits): Promise<void> {
      return this.#storage.trim(name, limits)
    }

    async load(id: string): Promise<WebhookSubscription | undefined> {
      return this.#storage.load(id)
    }

    async save(subscription: WebhookSubscription): Promise<boolean> {
      const isSaved = await this.#storage.save(subscription)
      await this.#setAlarm()
      return isSaved
    }

    async remove(subscription: WebhookSubscription): Promise<boolean> {
      return this.#storage.remove(subscription)
    }

    async count(principal?: string): Promise<number> {
      return this.#storage.count(principal)
    }

    async list(
      query: SubscriptionQuery,
      limit: number,
      after?: string,
    ): Promise<WebhookSubscription[]> {
      return this.#storage.list(query, limit, after)
    }

    async addAttempt(attempt: DeliveryAttempt): Promise<void> {
      return this.#storage.addAttempt(attempt)
    }

    async attempts(id: string, limit: number): Promise<DeliveryAttempt[]> {
      return this.#storage.attempts(id, limit)
    }

    async verifiedUntil(principal: string, url: string): Promise<number | undefined> {
      return this.#storage.verifiedUntil(principal, url)
    }

    async setVerified(principal: string, url: string, until: number): Promise<void> {
      return this.#storage.setVerified(principal, url, until)
    }

    /** Makes the deliveries that are due. Never throws, because the platform stops the alarms after six failures. */
    override async alarm(): Promise<void> {
      const storage = this.#storage
      const signal = AbortSignal.timeout(ALARM_MS)
      try {
        await events.deliver({ storage, env: this.env, signal, maxRequests: MAX_REQUESTS })
        await this.#setAlarm()
      } catch (error) {
        console.error(error)
        await this.ctx.storage.setAlarm(Date.now() + RETRY_MS)
      }
    }

    /** Sets the alarm for the next delivery, unless the alarm is already set for an earlier time. */
    async #setAlarm(): Promise<void> {
      const next = await this.#storage.nextDue()
      if (next === undefined) return
      const current = await this.ctx.storage.getAlarm()
      if (current === null || current > next) await this.ctx.storage.setAlarm(next)
    }
  }
}

function tagOf(name: string): string {
  return name.slice(0, MAX_TAG_LENGTH)
}

/** Notifies a stream of a new event. Never throws, so that the other streams are notified too. */
function notify(socket: WebSocket): void {
  try {
    socket.send('')
  } catch {
    socket.close(1011, 'The socket cannot be written to')
  }
}
