/**
 * The contract on mcp-lite, which speaks 2025-03-26 and 2025-06-18. It elicits only in sessions.
 *
 * @see https://github.com/fiberplane/mcp-lite
 */
import {
  InMemoryClientRequestAdapter,
  InMemorySessionAdapter,
  McpServer,
  StreamableHttpTransport,
} from 'mcp-lite'
import * as z from 'zod'

import { booked, counted, greeting, memo, pause, question, reviewOf } from '../contract.ts'

/** Makes a fetch handler, with sessions or without. */
export function serveMcpLite(sessions: boolean): (request: Request) => Promise<Response> {
  const server = new McpServer({
    name: 'mcp-lite',
    version: '1.0.0',
    schemaAdapter: (schema) => z.toJSONSchema(schema as z.ZodType),
  })
  server.tool('greet', {
    inputSchema: z.object({ name: z.string() }),
    handler: ({ name }) => ({ content: [{ type: 'text', text: greeting(name) }] }),
  })
  server.tool('count', {
    inputSchema: z.object({ to: z.number(), pauseMs: z.number() }),
    async handler({ to, pauseMs }, ctx) {
      for (let progress = 1; progress <= to; progress++) {
        await ctx.progress?.({ progress, total: to })
        await pause(pauseMs)
      }
      return { content: [{ type: 'text', text: counted(to) }] }
    },
  })
  server.tool('book', {
    inputSchema: z.object({ city: z.string() }),
    async handler({ city }, ctx) {
      // Not of zod 4.6, whose JSON Schema mcp-lite takes for a Standard Schema
      const schema = { type: 'object', properties: { confirm: { type: 'boolean' } } }
      const answer = await ctx.elicit<{ confirm: boolean }>({ message: question(city), schema })
      const confirmed = answer.action === 'accept' && answer.content?.confirm === true
      return { content: [{ type: 'text', text: booked(city, confirmed) }] }
    },
  })
  server.resource(memo.uri, { name: memo.name, mimeType: 'text/plain' }, async ({ href }) => ({
    contents: [{ type: 'text', uri: href, mimeType: 'text/plain', text: memo.text }],
  }))
  server.prompt('review', {
    arguments: z.object({ topic: z.string() }),
    handler: ({ topic }: { topic: string }) => ({
      messages: [{ role: 'user', content: { type: 'text', text: reviewOf(topic) } }],
    }),
  })
  const store = {
    sessionAdapter: new InMemorySessionAdapter({ maxEventBufferSize: 1024 }),
    clientRequestAdapter: new InMemoryClientRequestAdapter({ defaultTimeoutMs: 30_000 }),
  }
  const handle = new StreamableHttpTransport(sessions ? store : {}).bind(server)
  return async (request) => handle(request)
}
