// The server's features, independent of the host.
import { createServer } from 'edgewise/server/tiny'
import { person } from './person.ts'

export const server = createServer({ name: 'my-server', version: '0.1.0' })

server.tool(
  'greet',
  { description: 'Greets a person', input: person },
  ({ name }) => `Hello, ${name}!`,
)
