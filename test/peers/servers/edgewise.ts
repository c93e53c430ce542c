/**
 * The contract on Edgewise.
 */
import * as z from 'zod'

import { createServer, text, type Server, type ServerOptions } from '../../../src/presets/server.ts'
import {
  createServer as createTinyServer,
  type Server as TinyServer,
} from '../../../src/presets/server-tiny.ts'
import { booked, counted, greeting, memo, pause, question, reviewOf } from '../contract.ts'

const info = { name: 'edgewise', version: '1.0.0' }

export function createPeerServer(options: ServerOptions = {}): Server {
  const server = createServer(info, options)
  registerTools(server)
  server.resource(memo.uri, { name: memo.name, mimeType: 'text/plain' }, () => memo.text)
  server.prompt('review', { input: z.object({ topic: z.string() }) }, ({ topic }) =>
    text(reviewOf(topic)),
  )
  server.tool('book', { input: z.object({ city: z.string() }) }, async ({ city }, ctx) => {
    const schema = z.object({ confirm: z.boolean() })
    const answer = await ctx.elicit({ message: question(city), schema })
    return booked(city, answer.action === 'accept' && answer.content.confirm)
  })
  return server
}

/** The tools of the contract, except the tool that asks. */
export function createTinyPeerServer(): TinyServer {
  const server = createTinyServer(info)
  registerTools(server)
  return server
}

function registerTools(server: TinyServer): void {
  server.tool('greet', { input: z.object({ name: z.string() }) }, ({ name }) => greeting(name))

  server.tool(
    'count',
    { input: z.object({ to: z.number(), pauseMs: z.number() }) },
    async ({ to, pauseMs }, ctx) => {
      for (let progress = 1; progress <= to; progress++) {
        await ctx.progress(progress, { total: to })
        await pause(pauseMs)
      }
      return counted(to)
    },
  )
}
