/**
 * Serves MCP on Cloudflare Workers, with sessions in Durable Objects.
 *
 * @module
 */
export { createWorker, type Worker } from './worker.ts'
export type { WorkerNotifier } from './hub.ts'
export type { DurableObjectClass } from './session-object.ts'
export { bindingTransport, type EntrypointBinding } from './binding-transport.ts'
export { durableObjectEventStorage } from './event-storage.ts'
export { McpRateLimit, durableObjectRateLimits } from './rate-limit-object.ts'
