// A server with one tool, and a client that calls it over HTTP, in one program and without a port.
import assert from 'node:assert/strict'
import { connect } from 'edgewise/client'
import { createHandler, createServer } from 'edgewise/server'
import * as z from 'zod'

const server = createServer({ name: 'arithmetic', version: '1.0.0' })

server.tool(
  'divide',
  {
    description: 'Divides one number by another',
    input: z.object({ dividend: z.number(), divisor: z.number() }),
    output: z.object({ quotient: z.number() }),
  },
  ({ dividend, divisor }) => ({ structuredContent: { quotient: dividend / divisor } }),
)

// The handler receives a Request and returns a Response, so any host with these classes can serve it.
const handle = createHandler(server)

await using client = await connect('https://arithmetic.example/mcp', {
  fetch: (url, init) => handle(new Request(url, init)),
})

const tools = await client.listAllTools()
assert.deepEqual(
  tools.map((tool) => tool.name),
  ['divide'],
)

const result = await client.callTool('divide', { dividend: 42, divisor: 6 })
assert.deepEqual(result.structuredContent, { quotient: 7 })

// Invalid arguments are a result that the model can read, not an exception.
const refused = await client.callTool('divide', { dividend: 'many' })
assert.equal(refused.isError, true)

console.log(`42 / 6 = 7, spoken in ${client.revision}`)
