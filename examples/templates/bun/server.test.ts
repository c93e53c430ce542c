// Runs with `bun test`: a real client, in memory, in every revision.
import { expect, test } from 'bun:test'
import { revisions } from 'edgewise'
import { connectInMemory } from 'edgewise/testing'
import { server } from './server.ts'

for (const { version } of revisions) {
  test(`greets a client of ${version}`, async () => {
    const client = await connectInMemory(server, { revision: version })
    const { content } = await client.callTool('greet', { name: 'Ada' })
    expect(content).toEqual([{ type: 'text', text: 'Hello, Ada!' }])
    await client.close()
  })
}
