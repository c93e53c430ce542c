// Runs with `npm test`: a real client, in memory, in every revision.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { revisions } from 'edgewise'
import { connectInMemory } from 'edgewise/testing'
import { server } from './server.ts'

for (const { version } of revisions) {
  void test(`greets a client of ${version}`, async () => {
    const client = await connectInMemory(server, { revision: version })
    const { content } = await client.callTool('greet', { name: 'Ada' })
    assert.deepEqual(content, [{ type: 'text', text: 'Hello, Ada!' }])
    await client.close()
  })
}

void test('rejects a name that is not text', async () => {
  const client = await connectInMemory(server)
  const { isError } = await client.callTool('greet', { name: 1 })
  assert.equal(isError, true)
  await client.close()
})
