/**
 * The contract on tmcp, both eras.
 *
 * @see https://github.com/paoloricciuti/tmcp
 */
import { ZodJsonSchemaAdapter } from '@tmcp/adapter-zod'
import { HttpTransport } from '@tmcp/transport-http'
import { McpServer } from 'tmcp'
import * as z from 'zod'

import { booked, counted, greeting, memo, pause, question, reviewOf } from '../contract.ts'

/** Makes a fetch handler. */
export function serveTmcp(): (request: Request) => Promise<Response> {
  const server = new McpServer(
    { name: 'tmcp', version: '1.0.0', description: 'Peer' },
    {
      adapter: new ZodJsonSchemaAdapter(),
      capabilities: { tools: {}, resources: {}, prompts: {} },
    },
  )
  server.tool(
    { name: 'greet', description: 'Greets', schema: z.object({ name: z.string() }) },
    ({ name }) => ({ content: [{ type: 'text', text: greeting(name) }] }),
  )
  server.tool(
    {
      name: 'count',
      description: 'Counts',
      schema: z.object({ to: z.number(), pauseMs: z.number() }),
    },
    async ({ to, pauseMs }) => {
      for (let progress = 1; progress <= to; progress++) {
        server.progress(progress, to)
        await pause(pauseMs)
      }
      return { content: [{ type: 'text', text: counted(to) }] }
    },
  )
  server.tool(
    {
      name: 'book',
      description: 'Books',
      schema: z.object({ city: z.string() }),
      replayable: true,
    },
    async ({ city }) => {
      const answer = await server.elicitation(question(city), z.object({ confirm: z.boolean() }))
      const confirmed = answer.action === 'accept' && answer.content?.confirm === true
      return { content: [{ type: 'text', text: booked(city, confirmed) }] }
    },
  )
  server.resource({ name: memo.name, description: 'A memo', uri: memo.uri }, (uri) => ({
    contents: [{ uri, mimeType: 'text/plain', text: memo.text }],
  }))
  server.prompt(
    { name: 'review', description: 'Reviews', schema: z.object({ topic: z.string() }) },
    ({ topic }) => ({
      messages: [{ role: 'user', content: { type: 'text', text: reviewOf(topic) } }],
    }),
  )
  const transport = new HttpTransport(server, { path: '/mcp', allowedOrigins: [] })
  return async (request) =>
    (await transport.respond(request)) ?? new Response(null, { status: 404 })
}
