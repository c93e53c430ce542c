/**
 * Events for clients: follow the events of a server, and receive events by webhook.
 *
 * @module
 */
export { eventSubscriptions } from './subscriptions.ts'
export { EventError } from './event-error.ts'
export { eventText } from './event-text.ts'
export { createEventReceiver } from '../receiver/receiver.ts'
export { eventInbox } from '../receiver/inbox.ts'
export type { StoredSubscription, SubscriptionRecords } from './subscription-store.ts'
