import { expect, test } from 'vitest'
import { connect } from '../../src/presets/client.ts'
import { scriptedPeer } from '../../src/testing/index.ts'

const discovered = {
  resultType: 'complete',
  supportedVersions: ['2026-07-28'],
  capabilities: {},
}

test('a scripted peer answers at once or later', async () => {
  const now = scriptedPeer(({ id }) => ({ jsonrpc: '2.0', id, result: discovered }))
  const later = scriptedPeer(async ({ id }) => ({ jsonrpc: '2.0', id, result: discovered }))
  for (const peer of [now, later]) {
    const client = await connect(peer.transport)
    expect(client.revision).toBe('2026-07-28')
    expect(peer.received('server/discover')).toHaveLength(1)
    await client.close()
  }
})

test('a scripted peer whose script throws says so where it is used', async () => {
  const wrong = new Error('no such case')
  const now = scriptedPeer(() => {
    throw wrong
  })
  const later = scriptedPeer(() => Promise.reject(wrong))
  for (const peer of [now, later]) {
    await expect(connect(peer.transport)).rejects.toMatchObject({
      message: expect.stringContaining('The script failed: no such case'),
    })
  }
})
