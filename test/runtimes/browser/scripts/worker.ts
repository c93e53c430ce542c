// A server in a worker of any kind: dedicated, shared or service.
import { connect, servePorts } from 'edgewise/browser'
import { createServer } from 'edgewise/server'
import * as z from 'zod'

const server = createServer({ name: 'worker', version: '1.0.0' })
let running = 0

server.tool('add', { input: z.object({ a: z.number(), b: z.number() }) }, ({ a, b }) =>
  String(a + b),
)

server.tool('scope', {}, () => globalThis.constructor.name)

server.tool('far', {}, async () => {
  const client = await connect('/mcp')
  const { content } = await client.callTool('greet')
  await client.close()
  return content
})

server.tool('running', {}, () => String(running))

server.tool('hang', {}, async (_args, ctx) => {
  running++
  await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
  running--
  return 'over'
})

server.tool('ask', {}, async (_args, ctx) => {
  const schema = z.object({ city: z.string() })
  const answer = await ctx.elicit({ message: 'Which city?', schema })
  return answer.action === 'accept' ? answer.content.city : answer.action
})

const changing = server.tool('changing', {}, () => 'seen')

server.tool('change', {}, () => {
  changing.disable()
  changing.enable()
  return 'told'
})

servePorts(server)
