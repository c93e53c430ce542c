/** Edgewise over stdio with a tool described by JSON Schema: only its own code is loaded. */
import { jsonSchema } from 'edgewise/json-schema'
import { serveStdio } from 'edgewise/node'
import { createServer, text } from 'edgewise/server'

const server = createServer({ name: 'edgewise', version: '1.0.0' })
const input = jsonSchema<{ text: string }>({
  type: 'object',
  properties: { text: { type: 'string' } },
  required: ['text'],
})
server.tool('echo', { description: 'Answers with the text it was given', input }, (given) =>
  text(given.text),
)

await serveStdio(server)
