/**
 * Types of the Events extension for the runtimes; not part of the public API.
 *
 * @module
 */
export type { ServerEvents } from '../events/server-events.ts'
export type {
  DeliveryAttempt,
  EventStorage,
  LogPage,
  LoggedEvent,
  SubscriptionQuery,
  TrimLimits,
  WebhookSubscription,
} from '../events/storage.ts'
export type { WebhookFetch } from '../events/webhooks/options.ts'
