/**
 * The Worker that `npm start` runs: the MCP endpoint at `/mcp`, and beside it the page, which
 * Workers' static assets serve.
 *
 * @see https://developers.cloudflare.com/workers/static-assets/
 */
import { createWorker } from 'edgewise/cloudflare'
import { server } from './server.ts'

const worker = createWorker(server)
export default worker

/** Hold the sessions of clients that speak a legacy revision, tell of changes, and are tasks. */
export const { McpSession, McpHub, McpTask } = worker.durableObjects
