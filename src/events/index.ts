/**
 * Events: a server notifies clients of what happens, by poll, stream and webhook.
 *
 * The extension is in Beta, and its exports may change in minor versions.
 *
 * @module
 */
export { events } from './events.ts'
export { forwardEvents } from '../gateway/forward-events.ts'
export { streams } from './streams.ts'
export { pollSources } from './source.ts'
export { breakingChanges } from './schema-changes.ts'
export { listedReceiver } from './webhooks/well-known.ts'
export { webhooks } from './webhooks/webhooks.ts'
