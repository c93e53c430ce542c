// A Worker. Requests of 2026-07-28 are answered in the isolate where they arrive. Clients of older
// revisions get a session, which is a Durable Object.
import { createWorker } from 'edgewise/cloudflare'
import { createServer } from 'edgewise/server'
import * as z from 'zod'

const server = createServer({ name: 'travel', version: '1.0.0' })

server.tool('book', { input: z.object({ city: z.string() }) }, async ({ city }, ctx) => {
  const answer = await ctx.elicit({
    message: `Book ${city}?`,
    schema: z.object({ confirm: z.boolean() }),
  })
  return answer.action === 'accept' && answer.content.confirm ? `Booked ${city}` : 'Not booked'
})

const worker = createWorker(server)
export default worker
export const { McpSession, McpHub } = worker.durableObjects
