/**
 * Serves MCP on Cloudflare Workers, with sessions in Durable Objects.
 *
 * @module
 */
export { createWorker, type Worker } from './worker.ts'
