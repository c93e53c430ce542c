// A server that only other Workers can reach: it has no public endpoint.
import { createWorker } from 'edgewise/cloudflare'
import { createServer } from 'edgewise/server'
import * as z from 'zod'

const server = createServer({ name: 'travel', version: '1.0.0' })

server.tool('book', { input: z.object({ city: z.string() }) }, async ({ city }, ctx) => {
  await ctx.progress(1, { total: 2, message: `Looking for seats to ${city}` })
  const answer = await ctx.elicit({
    message: `Book a seat to ${city} for 100 euros?`,
    schema: z.object({ confirm: z.boolean() }),
  })
  if (answer.action !== 'accept' || !answer.content.confirm) return 'Not booked'
  // The principal comes from the binding of the calling Worker.
  return `Booked a seat to ${city} for ${ctx.principal}`
})

const worker = createWorker(server)

// Bindings refer to this name as their entrypoint.
export const Travel = worker.entrypoint
export const { McpSession, McpHub } = worker.durableObjects

export default {
  fetch: (): Response => new Response('Not found', { status: 404 }),
}
