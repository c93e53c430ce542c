/**
 * The everything-server as a Worker.
 */
import { createWorker } from '../runtimes/cloudflare/index.ts'
import { createEverythingServer } from './everything.ts'

// On Cloudflare, only its own name leads to a Worker; here any name would.
const worker = createWorker(createEverythingServer(), { allowedHosts: ['127.0.0.1', 'localhost'] })
export default worker
export const { McpSession, McpHub, McpTask } = worker.durableObjects
