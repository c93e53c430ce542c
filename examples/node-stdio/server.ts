// A server that a host starts as a program and connects to over stdin and stdout.
import { serveStdio } from 'edgewise/node'
import { createServer, text } from 'edgewise/server'
import * as z from 'zod'

const server = createServer({ name: 'greeter', version: '1.0.0' })

server.tool(
  'greet',
  { description: 'Greets a person', input: z.object({ name: z.string() }) },
  ({ name }) => {
    // You can print: while the server runs, the console writes to stderr.
    console.log(`Greeting ${name}`)
    return text(`Hello, ${name}!`)
  },
)

await serveStdio(server)
