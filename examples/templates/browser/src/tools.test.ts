// Runs with `npm test`: a server in memory, in every revision.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { revisions } from 'edgewise'
import { createServer } from 'edgewise/server'
import { connectInMemory } from 'edgewise/testing'
import { describeTools } from './tools.ts'

const server = createServer({ name: 'shop', version: '0.1.0' })
server.tool('order', { description: 'Orders an item' }, () => 'Ordered')

for (const { version } of revisions) {
  void test(`lists the tools of a server of ${version}`, async () => {
    const client = await connectInMemory(server, { revision: version })
    assert.deepEqual(await describeTools(client), ['order: Orders an item'])
    await client.close()
  })
}
