/**
 * The contract on the official SDK v2 (`@modelcontextprotocol/server`), both eras.
 *
 * @see https://github.com/modelcontextprotocol/typescript-sdk
 */
import {
  acceptedContent,
  inputRequired,
  inputResponse,
  McpServer,
} from '@modelcontextprotocol/server'
import * as z from 'zod'

import { booked, counted, greeting, memo, pause, question, reviewOf } from '../contract.ts'

export function createV2Server(): McpServer {
  const server = new McpServer({ name: 'official-v2', version: '1.0.0' })

  server.registerTool('greet', { inputSchema: z.object({ name: z.string() }) }, ({ name }) => ({
    content: [{ type: 'text', text: greeting(name) }],
  }))

  server.registerTool(
    'count',
    { inputSchema: z.object({ to: z.number(), pauseMs: z.number() }) },
    async ({ to, pauseMs }, ctx) => {
      const progressToken = ctx.mcpReq._meta?.progressToken
      for (let progress = 1; progressToken !== undefined && progress <= to; progress++) {
        await ctx.mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken, progress, total: to },
        })
        await pause(pauseMs)
      }
      return { content: [{ type: 'text', text: counted(to) }] }
    },
  )

  const confirmation = z.object({ confirm: z.boolean() })
  server.registerTool('book', { inputSchema: z.object({ city: z.string() }) }, ({ city }, ctx) => {
    const answers = ctx.mcpReq.inputResponses
    if (inputResponse(answers, 'confirm').kind === 'missing') {
      const ask = { message: question(city), requestedSchema: confirmation }
      return inputRequired({ inputRequests: { confirm: inputRequired.elicit(ask) } })
    }
    const confirmed = acceptedContent(answers, 'confirm', confirmation)?.confirm === true
    return { content: [{ type: 'text', text: booked(city, confirmed) }] }
  })

  server.registerResource(memo.name, memo.uri, { mimeType: 'text/plain' }, ({ href }) => ({
    contents: [{ uri: href, mimeType: 'text/plain', text: memo.text }],
  }))

  server.registerPrompt('review', { argsSchema: z.object({ topic: z.string() }) }, ({ topic }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: reviewOf(topic) } }],
  }))

  return server
}
