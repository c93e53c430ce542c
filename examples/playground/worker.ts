/**
 * The Worker that `npm start` runs. It serves the MCP endpoint at `/mcp`, and the page as static assets.
 *
 * @see https://developers.cloudflare.com/workers/static-assets/
 */
import { createWorker } from 'edgewise/cloudflare'
import { server } from './server.ts'

const worker = createWorker(server)
export default worker

/** The objects for sessions of legacy revisions, for change notifications and for tasks. */
export const { McpSession, McpHub, McpTask } = worker.durableObjects
