/**
 * Webhooks for the runtimes; not exported by the package.
 *
 * @module
 */
export type { WebhookFetch } from '../events/webhooks/options.ts'
