// Runs with `deno task test`: a real client, in memory, in every revision.
import { revisions } from 'edgewise'
import { connectInMemory } from 'edgewise/testing'
import { server } from './server.ts'

for (const { version } of revisions) {
  Deno.test(`greets a client of ${version}`, async () => {
    const client = await connectInMemory(server, { revision: version })
    const { content } = await client.callTool('greet', { name: 'Ada' })
    const [block] = content
    if (block?.type !== 'text' || block.text !== 'Hello, Ada!') throw new Error('No greeting')
    await client.close()
  })
}
