// A Worker whose sessions survive its restart. A cron trigger notifies the clients of changes.
import { createWorker } from 'edgewise/cloudflare'
import { createServer } from 'edgewise/server'
import * as z from 'zod'

const server = createServer({ name: 'fares', version: '1.0.0' })

server.resource('fare://oslo', { name: 'Fare to Oslo' }, () => '100')

server.tool('book', { input: z.object({ city: z.string() }) }, async ({ city }, ctx) => {
  // A step runs once, even if the handler runs again because the object was restarted.
  const reservation = await ctx.step('reserve', () => crypto.randomUUID())
  const answer = await ctx.elicit({
    message: `Book ${city} as ${reservation}?`,
    schema: z.object({ confirm: z.boolean() }),
  })
  if (answer.action !== 'accept' || !answer.content.confirm) return 'Not booked'
  return `Booked ${city} as ${reservation}`
})

const worker = createWorker(server)

export default {
  ...worker,
  // Notifies every client that subscribed to the resource, in every isolate.
  scheduled: () => worker.notify.resourceUpdated('fare://oslo'),
}
export const { McpSession, McpHub } = worker.durableObjects
