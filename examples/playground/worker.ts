/**
 * The Worker that `npm start` runs: the MCP endpoint at `/mcp`, and beside it the page, which
 * Workers' static assets serve.
 *
 * @see https://developers.cloudflare.com/workers/static-assets/
 */
import { createHandler } from 'edgewise/server'
import { server } from './server.ts'

export default { fetch: createHandler(server) }
