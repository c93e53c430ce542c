/** Servers that refuse the version of a probe. */
import { expect, test } from 'vitest'

import { connect } from '../../src/presets/client.ts'
import { createServer, rateLimit } from '../../src/presets/server.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import { error, httpPeer, result } from './peers.ts'

const discovered = {
  supportedVersions: ['2026-07-28'],
  capabilities: {},
  resultType: 'complete',
  ttlMs: 0,
  cacheScope: 'private',
}
const refusal = { supported: ['2026-07-28'], requested: '2026-07-28' }

test('a server that refuses the version that it supports is asked once more', async () => {
  const peer = httpPeer((request) =>
    peer.requests.length === 1 ? error(request, -32022, 400, refusal) : result(request, discovered),
  )
  await using client = await connect('http://peer.test/mcp', { fetch: peer.fetch })
  expect(client.revision).toBe('2026-07-28')
  expect(peer.received('server/discover')).toHaveLength(2)
})

test('a server that continues refusing the version that it supports is abandoned', async () => {
  const peer = httpPeer((request) => error(request, -32022, 400, refusal))
  const connecting = connect('http://peer.test/mcp', { fetch: peer.fetch })
  await expect(connecting).rejects.toMatchObject({ code: 'VERSION_MISMATCH' })
  expect(peer.requests).toHaveLength(2)
})

test('a server that refuses the probe because of a limit is not assumed to be an older one', async () => {
  const server = createServer({ name: 's', version: '1' })
  server.use(rateLimit({ requests: 1, perMs: 60_000 }))
  const client = await connectInMemory(server)
  expect(client.revision).toBe('2026-07-28')
  for (const revision of [undefined, '2026-07-28'] as const) {
    const connecting = connectInMemory(server, revision && { revision })
    await expect(connecting).rejects.toMatchObject({ code: 429 })
  }
  await client.close()
})
