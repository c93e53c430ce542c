// Cloudflare's McpAgent with an echo tool and the tools of test/peers, how often its objects came into
// memory, and what they wrote.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { McpAgent } from 'agents/mcp'
import * as z from 'zod'
import { booked, counted, greeting, pause, question } from '../../test/peers/contract.ts'
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
    this.server.registerTool('greet', { inputSchema: { name: z.string() } }, ({ name }) => ({
      content: [{ type: 'text', text: greeting(name) }],
    }))
    const counting = { inputSchema: { to: z.number(), pauseMs: z.number() } }
    this.server.registerTool('count', counting, async ({ to, pauseMs }, extra) => {
      const progressToken = extra._meta?.progressToken
      for (let progress = 1; progressToken !== undefined && progress <= to; progress++) {
        const params = { progressToken, progress, total: to }
        await extra.sendNotification({ method: 'notifications/progress', params })
        await pause(pauseMs)
      }
      return { content: [{ type: 'text', text: counted(to) }] }
    })
    this.server.registerTool('book', { inputSchema: { city: z.string() } }, async ({ city }) => {
      const properties = { confirm: { type: 'boolean' } }
      const answer = await this.elicitInput({
        message: question(city),
        requestedSchema: { type: 'object', properties, required: ['confirm'] },
      })
      const confirmed = answer.action === 'accept' && answer.content?.confirm === true
      return { content: [{ type: 'text', text: booked(city, confirmed) }] }
    })
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
