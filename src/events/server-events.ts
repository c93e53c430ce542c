/**
 * The object that `events` returns, with which an application defines and emits events.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import type { InferInput, StandardSchema } from '../protocol/standard-schema.ts'
import type { ServerExtension } from '../server/server.ts'
import type { EmitOptions } from './emit.ts'
import type { DeliverOptions } from './host.ts'
import type { DeliveryAttempt } from './storage.ts'
import type { SubscriptionFilter } from './server-event-host.ts'
import type { EventTypeOptions } from './type-options.ts'

/** A registered event type. */
export interface EventTypeHandle<Payload extends StandardSchema = StandardSchema> {
  readonly name: string
  /**
   * Emits an event. Resolves when the event is stored. You can call this method anywhere, for example in a
   * tool, a queue consumer or a cron job.
   *
   * @throws {SdkError} `INVALID_USE` if the payload does not fit the schema, an option is malformed,
   *   or the type has the option `poll`; `LIMIT_EXCEEDED` if the payload is larger than 252 KiB.
   */
  emit(payload: InferInput<Payload>, options?: EmitOptions): Promise<void>
  /**
   * Replaces the type's options, under the same name. If the option `compare` of `events` is set, and
   * finds an incompatible change of a schema, the subscriptions of the type end with the error Unsupported. To
   * avoid that, define a type with a new name instead.
   *
   * @throws {TypeError} If an option is unknown or invalid, or the type was removed.
   */
  update<Input extends StandardSchema, NewPayload extends StandardSchema>(
    options: EventTypeOptions<Input, NewPayload>,
  ): void
  /** Removes the type. Its subscriptions end with the error NotFound. */
  remove(): void
}

/** The events of one server: an extension, and methods to define and emit events. */
export interface ServerEvents extends ServerExtension {
  /**
   * Defines an event type.
   *
   * @throws {TypeError} If the name is taken, an option is unknown or invalid, or the type has
   *   arguments, but none of `matches`, `poll` and `unfiltered`.
   */
  type<Input extends StandardSchema, Payload extends StandardSchema>(
    name: string,
    options: EventTypeOptions<Input, Payload>,
  ): EventTypeHandle<Payload>
  /**
   * Ends the subscriptions that the filter selects, with the error Forbidden. This does not prevent their
   * principals from subscribing again: for that, the option `authorize` must refuse them. In other
   * processes, streams and polled subscriptions end only when `authorize` refuses them there.
   *
   * @param reason A word that clients receive, such as `account_closed`; `access_revoked` by default.
   * @throws {TypeError} If the filter is empty or has an unknown member.
   */
  revoke(filter: SubscriptionFilter, reason?: string): Promise<void>
  /** The last requests to the webhook of a subscription, newest first. */
  deliveries(subscriptionId: string): Promise<readonly DeliveryAttempt[]>
  /**
   * Delivers events to webhooks until none is due. A process that keeps running delivers automatically, and
   * so do Durable Objects, in their alarms. On any other platform, call this method regularly, for example in
   * a cron job.
   *
   * @returns When the next delivery is due, in milliseconds since 1970.
   */
  deliver(options?: Partial<DeliverOptions>): Promise<number | undefined>
  /** Ends all streams and polled subscriptions, and stops the delivery by webhook. */
  close(): Promise<void>
}
