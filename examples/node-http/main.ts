// Serves a server over HTTP on Node, and calls it.
import assert from 'node:assert/strict'
import { connect } from 'edgewise/client'
import { serve } from 'edgewise/node'
import { createServer, text } from 'edgewise/server'
import * as z from 'zod'

const server = createServer({ name: 'counter', version: '1.0.0' })

server.tool('count', { input: z.object({ to: z.number() }) }, async ({ to }, ctx) => {
  for (let i = 1; i <= to; i++) await ctx.progress(i, { total: to })
  return text(`Counted to ${to}`)
})

// With port 0, the system chooses a free port. The path is /mcp by default.
const http = await serve(server, { port: 0 })

const client = await connect(http.url)
const steps: number[] = []
const result = await client.callTool(
  'count',
  { to: 3 },
  { onProgress: ({ progress }) => steps.push(progress) },
)
assert.deepEqual(result.content, [{ type: 'text', text: 'Counted to 3' }])
assert.deepEqual(steps, [1, 2, 3])

await client.close()
await http.close()

console.log('Counted over HTTP')
