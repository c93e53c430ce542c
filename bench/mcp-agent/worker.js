// Cloudflare's McpAgent with an echo tool, how often its objects came into memory, and what they wrote.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { McpAgent } from 'agents/mcp'
import * as z from 'zod'
import { countRows } from '../count-rows.ts'

let lives = 0
/** Rows that were written to the storage of all objects. */
let rows = 0

export class Agent extends McpAgent {
  server = new McpServer({ name: 'bench', version: '1.0.0' })

  constructor(ctx, env) {
    countRows(ctx, (written) => (rows += written))
    super(ctx, env)
    lives++
  }

  async init() {
    this.server.registerTool('echo', { inputSchema: { text: z.string() } }, ({ text }) => ({
      content: [{ type: 'text', text }],
    }))
  }
}

const served = Agent.serve('/mcp', { binding: 'MCP_OBJECT' })

export default {
  fetch(request, env, ctx) {
    const { pathname } = new URL(request.url)
    if (pathname === '/lives') return Response.json(lives)
    if (pathname === '/rows') return Response.json(rows)
    return served.fetch(request, env, ctx)
  },
}
