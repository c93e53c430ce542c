/**
 * The contract on the official SDK v1 (`@modelcontextprotocol/sdk`).
 *
 * @see https://github.com/modelcontextprotocol/typescript-sdk/tree/v1.x
 */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import * as z from 'zod'

import { booked, counted, greeting, memo, pause, question, reviewOf } from '../contract.ts'

export function createV1Server(): McpServer {
  const server = new McpServer({ name: 'official-v1', version: '1.0.0' })

  server.registerTool('greet', { inputSchema: { name: z.string() } }, ({ name }) => ({
    content: [{ type: 'text', text: greeting(name) }],
  }))

  server.registerTool(
    'count',
    { inputSchema: { to: z.number(), pauseMs: z.number() } },
    async ({ to, pauseMs }, extra) => {
      const progressToken = extra._meta?.progressToken
      for (let progress = 1; progressToken !== undefined && progress <= to; progress++) {
        await extra.sendNotification({
          method: 'notifications/progress',
          params: { progressToken, progress, total: to },
        })
        await pause(pauseMs)
      }
      return { content: [{ type: 'text', text: counted(to) }] }
    },
  )

  server.registerTool('book', { inputSchema: { city: z.string() } }, async ({ city }) => {
    const answer = await server.server.elicitInput({
      message: question(city),
      requestedSchema: {
        type: 'object',
        properties: { confirm: { type: 'boolean' } },
        required: ['confirm'],
      },
    })
    const confirmed = answer.action === 'accept' && answer.content?.confirm === true
    return { content: [{ type: 'text', text: booked(city, confirmed) }] }
  })

  server.registerResource(memo.name, memo.uri, { mimeType: 'text/plain' }, ({ href }) => ({
    contents: [{ uri: href, mimeType: 'text/plain', text: memo.text }],
  }))

  server.registerPrompt('review', { argsSchema: { topic: z.string() } }, ({ topic }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: reviewOf(topic) } }],
  }))

  return server
}
