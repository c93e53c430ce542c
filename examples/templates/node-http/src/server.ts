// The server's features, independent of the host.
import { createServer, text } from 'edgewise/server'
import * as z from 'zod'

export const server = createServer({ name: 'my-server', version: '0.1.0' })

server.tool(
  'greet',
  { description: 'Greets a person', input: z.object({ name: z.string() }) },
  ({ name }) => text(`Hello, ${name}!`),
)
