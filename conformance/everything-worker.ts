/**
 * The everything-server as a Worker.
 */
import { createWorker } from '../runtimes/cloudflare/index.ts'
import { createEverythingServer } from './everything.ts'

// On Cloudflare no other name leads to a Worker than its own; here any would.
const worker = createWorker(createEverythingServer(), { allowedHosts: ['127.0.0.1', 'localhost'] })
export default worker
export const { McpSession, McpHub, McpTask } = worker.durableObjects
