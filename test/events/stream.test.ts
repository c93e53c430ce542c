import { describe, expect, test } from 'vitest'
import { until } from '../client/peers.ts'
import {
  duplexPeer,
  fixture,
  httpPeer,
  SUBSCRIPTION_ID,
  type Fixture,
  type Peer,
} from './fixture.ts'

const NAME = 'invoice.created'

const connections: [string, (made: Fixture) => Promise<Peer>][] = [
  ['over HTTP', async ({ handle }) => httpPeer(handle)],
  ['on a connection', ({ server }) => duplexPeer(server)],
]

describe.each(connections)('a stream %s', (_, connect) => {
  test('begins with the active notification, and then carries events with cursors [E-EVT-073] [E-EVT-077]', async () => {
    const made = fixture()
    const peer = await connect(made)
    const stream = peer.open('events/stream', { name: NAME, arguments: { customer: 'c1' } })
    await stream.received('active')
    await made.emit('in_1')
    await made.emit('in_2', 'c2')
    await made.emit('in_3')
    const received = await stream.received('event', 2)
    expect(stream.messages[0]?.params).toMatchObject({
      cursor: expect.any(String),
      truncated: false,
    })
    expect(received.map(({ params }) => params?.eventId)).toEqual(['in_1', 'in_3'])
    expect(received[0]?.params).toMatchObject({
      name: NAME,
      data: { id: 'in_1', customer: 'c1', total: 1 },
      cursor: expect.any(String),
      timestamp: expect.stringMatching(/Z$/),
    })
    stream.cancel()
    expect(made.errors).toEqual([])
  })

  test.each([7, '7'])(
    'repeats the id of its request, of the same JSON type (%j) [E-EVT-075]',
    async (id) => {
      const made = fixture()
      const peer = await connect(made)
      const stream = peer.open('events/stream', { name: NAME }, { id })
      await stream.received('active')
      await made.emit('in_1')
      await stream.received('event')
      await made.events.revoke({ name: NAME })
      expect(await stream.response()).toMatchObject({
        id,
        result: { _meta: { [SUBSCRIPTION_ID]: id } },
      })
      for (const { params } of stream.messages.slice(0, -1)) {
        expect(params?._meta).toEqual({ [SUBSCRIPTION_ID]: id })
      }
      expect(stream.messages.map(({ method }) => method?.split('/').at(-1))).toEqual([
        'active',
        'event',
        'terminated',
        undefined,
      ])
    },
  )

  test('that is cancelled stops, and releases what belonged to it [E-EVT-091]', async () => {
    const ended: unknown[] = []
    const made = fixture({ invoices: { onUnsubscribe: ({ name }) => ended.push(name) } })
    const peer = await connect(made)
    const stream = peer.open('events/stream', { name: NAME })
    await stream.received('active')
    stream.cancel()
    await until(() => ended.length > 0)
    expect(ended).toEqual([NAME])
  })
})
