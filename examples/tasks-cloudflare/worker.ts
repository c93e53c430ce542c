// A Worker whose calls survive its restart. A call becomes a task, which has a Durable Object of its
// own. The handler runs in the alarm of that object, so that the platform restarts interrupted work.
import { createWorker } from 'edgewise/cloudflare'
import { createServer } from 'edgewise/server'
import { tasks } from 'edgewise/tasks'
import * as z from 'zod'

const server = createServer({ name: 'bakery', version: '1.0.0' })
server.extend(tasks({ pollIntervalMs: 100 }))

server.tool(
  'bake',
  { input: z.object({ cake: z.string() }), task: 'required' },
  async ({ cake }, ctx) => {
    // A step runs once, although the handler runs again after a question or a restart.
    const order = await ctx.step('order', () => crypto.randomUUID())
    const answer = await ctx.elicit({
      message: `Bake ${cake} as ${order}?`,
      schema: z.object({ confirm: z.boolean() }),
    })
    if (answer.action !== 'accept' || !answer.content.confirm) return 'Not baked'
    await ctx.progress(1, { total: 2, message: `Baking ${order}` })
    await ctx.step('bake', () => new Promise((done) => setTimeout(done, 5000)))
    return `Baked ${cake} as ${order}`
  },
)

const worker = createWorker(server)

export default worker
export const { McpSession, McpHub, McpTask } = worker.durableObjects
