// The tools of test/peers on FastMCP, over HTTP at the port in the arguments.
import { FastMCP } from 'fastmcp'
import * as z from 'zod'
import { booked, counted, greeting, pause, question } from '../../test/peers/contract.ts'

const server = new FastMCP({ name: 'fastmcp', version: '1.0.0' })
server.addTool({
  name: 'greet',
  parameters: z.object({ name: z.string() }),
  execute: async ({ name }) => greeting(name),
})
server.addTool({
  name: 'count',
  parameters: z.object({ to: z.number(), pauseMs: z.number() }),
  async execute({ to, pauseMs }, { reportProgress }) {
    for (let progress = 1; progress <= to; progress++) {
      await reportProgress({ progress, total: to })
      await pause(pauseMs)
    }
    return counted(to)
  },
})
server.addTool({
  name: 'book',
  parameters: z.object({ city: z.string() }),
  async execute({ city }, { elicit }) {
    const properties = { confirm: { type: 'boolean' } }
    const answer = await elicit({
      message: question(city),
      requestedSchema: { type: 'object', properties, required: ['confirm'] },
    })
    return booked(city, answer.action === 'accept' && answer.content?.confirm === true)
  },
})

const port = Number(process.argv[2])
await server.start({ transportType: 'httpStream', httpStream: { port, host: '127.0.0.1' } })
console.log('listening')
