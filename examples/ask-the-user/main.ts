// A handler that asks the user in the middle of its work. The same code serves every revision. In a
// session, the server sends the question and the handler waits. Without a session, the handler runs
// again when the answer arrives; `ctx.step` prevents that work before the question is repeated.
import assert from 'node:assert/strict'
import type { Revision } from 'edgewise'
import { createServer } from 'edgewise/server'
import { connectInMemory } from 'edgewise/testing'
import * as z from 'zod'

const server = createServer({ name: 'travel', version: '1.0.0' })
let quotes = 0

server.tool(
  'book',
  {
    description: 'Books a trip after asking for confirmation',
    input: z.object({ city: z.string() }),
  },
  async ({ city }, ctx) => {
    const price = await ctx.step('quote', () => 100 * ++quotes)
    const answer = await ctx.elicit({
      message: `Book ${city} for ${price}?`,
      schema: z.object({ confirm: z.boolean() }),
    })
    if (answer.action !== 'accept' || !answer.content.confirm) return 'Not booked'
    return `Booked ${city} for ${price}`
  },
)

for (const revision of ['2025-06-18', '2025-11-25', '2026-07-28'] satisfies Revision[]) {
  quotes = 0
  const asked: string[] = []
  await using client = await connectInMemory(server, {
    revision,
    onElicit: ({ message }) => {
      asked.push(message)
      return { action: 'accept', content: { confirm: true } }
    },
  })
  const { content } = await client.callTool('book', { city: 'Oslo' })
  assert.deepEqual(content, [{ type: 'text', text: 'Booked Oslo for 100' }])
  assert.deepEqual(asked, ['Book Oslo for 100?'])
  assert.equal(quotes, 1)
  console.log(`${revision}: asked once, quoted once`)
}
