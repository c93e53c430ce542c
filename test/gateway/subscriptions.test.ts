// Gateways to servers of many resources: how many subscriptions they have.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ConnectOptions, Client } from '../../src/presets/client.ts'
import { ProtocolError } from '../../src/index.ts'
import { createGateway, createServer, type Server, uriTemplate } from '../../src/presets/server.ts'
import * as subscriptions from '../../src/server/features/subscriptions.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import { closing } from '../closing.ts'

// Instead of 1,000, the limit of a session
beforeEach(() => {
  const limits: { MAX_SUBSCRIBED_RESOURCES: number } = subscriptions
  vi.spyOn(limits, 'MAX_SUBSCRIBED_RESOURCES', 'get').mockReturnValue(10)
})
afterEach(() => void vi.restoreAllMocks())

async function connected(server: Server, options: ConnectOptions = {}): Promise<Client> {
  return closing(await connectInMemory(server, options))
}

describe.each(['2025-11-25', '2026-07-28'] as const)(
  'a gateway to many resources of %s',
  (revision) => {
    const note = (n: number): string => `note://${n}`
    const notes = (from: number, to: number): string[] =>
      Array.from({ length: to - from }, (_, n) => note(from + n))

    /** A gateway, and what is watched in the server behind it. */
    async function many() {
      const inner = createServer({ name: 'inner', version: '1' })
      inner.resourceTemplate(uriTemplate('note://{id}'), { name: 'note' }, () => 'note')
      const watched = new Set<unknown>()
      inner.use('resources/subscribe', ({ params }, _ctx, next) => {
        watched.add(params.uri)
        return next()
      })
      inner.use('resources/unsubscribe', ({ params }, _ctx, next) => {
        watched.delete(params.uri)
        return next()
      })
      inner.use('subscriptions/listen', ({ params }, _ctx, next) => {
        const { resourceSubscriptions = [] } = params.notifications
        watched.clear()
        for (const uri of resourceSubscriptions) watched.add(uri)
        return next()
      })
      const problems: unknown[] = []
      const onError = (error: unknown) => problems.push(error)
      const gateway = await createGateway(
        (options) => connectInMemory(inner, { ...options, revision }),
        { onError },
      )
      closing(gateway)
      return { inner, gateway, watched, problems }
    }

    const session = { revision: '2025-11-25' } as const

    it('evicts the oldest subscriptions of the client with the most, if no listener is known [S016]', async () => {
      const { inner, gateway, watched, problems } = await many()
      const updated: string[] = []
      const one = await connected(gateway.server, {
        ...session,
        onResourceUpdated: (uri) => updated.push(uri),
      })
      for (const uri of notes(0, 3)) await one.subscribe(uri)
      for (const from of [3, 13]) {
        const options = { ...session, principal: 'eve' }
        const other = closing(await connectInMemory(gateway.server, options))
        for (const uri of notes(from, from + 10)) await other.subscribe(uri)
      }
      await expect
        .poll(() => [...watched].toSorted())
        .toEqual([...notes(0, 3), ...notes(16, 23)].toSorted())
      inner.notify.resourceUpdated(note(3))
      inner.notify.resourceUpdated(note(0))
      await expect.poll(() => updated).toEqual([note(0)])
      const third = await connected(gateway.server, session)
      await third.subscribe(note(3))
      expect(watched.has(note(3))).toBe(true)
      expect(problems).toEqual([])
    })

    it('does not let a client use up the subscriptions of others [S016]', async () => {
      const { inner, gateway, watched } = await many()
      const refusal = { code: -32603, message: 'Too many resource subscriptions at the moment' }
      const one = await connected(gateway.server)
      const listening = async (client: Client, ...uris: string[]) =>
        client.listen({ resourceSubscriptions: uris })
      await expect(listening(one, ...notes(0, 6))).rejects.toMatchObject(refusal)
      const changes = await listening(one, ...notes(0, 4))
      await listening(one, note(4))
      await expect(listening(one, note(5))).rejects.toMatchObject(refusal)
      const other = await connected(gateway.server)
      await listening(other, note(4), note(5))
      await expect(listening(other, note(6), note(7))).rejects.toMatchObject(refusal)
      const third = await connected(gateway.server, session)
      await third.subscribe(note(8))
      inner.notify.resourceUpdated(note(0))
      expect((await changes[Symbol.asyncIterator]().next()).value?.params).toMatchObject({
        uri: note(0),
      })
      changes.close()
      await expect
        .poll(() => listening(one, ...notes(6, 8)).then(({ filter }) => filter, String))
        .toEqual({ resourceSubscriptions: notes(6, 8) })
      expect(watched.has(note(7))).toBe(true)
    })

    it('counts the subscriptions of a principal across all of its connections [S016]', async () => {
      const { gateway } = await many()
      const tabs = await Promise.all(
        [1, 2].map(async () =>
          closing(await connectInMemory(gateway.server, { principal: 'ada' })),
        ),
      )
      const [one, two] = tabs as [Client, Client]
      await one.listen({ resourceSubscriptions: notes(0, 5) })
      await two.listen({ resourceSubscriptions: notes(0, 5) })
      await expect(two.listen({ resourceSubscriptions: [note(5)] })).rejects.toThrow('Too many')
      const bob = closing(await connectInMemory(gateway.server, { principal: 'bob' }))
      expect((await bob.listen({ resourceSubscriptions: [note(5)] })).filter).toEqual({
        resourceSubscriptions: [note(5)],
      })
    })

    it('reports to the caller that the upstream server rejects a subscription [P023]', async () => {
      const { inner, gateway, watched, problems } = await many()
      for (const method of ['resources/subscribe', 'subscriptions/listen']) {
        inner.use(method, ({ params }, _ctx, next) => {
          if (JSON.stringify(params).includes(note(7))) throw new ProtocolError(-32602, 'Not that')
          return next()
        })
      }
      const client = await connected(gateway.server, session)
      await expect(client.subscribe(note(7))).rejects.toMatchObject({
        code: -32602,
        message: 'Not that',
      })
      await client.subscribe(note(1))
      const modern = await connected(gateway.server)
      await expect(
        modern.listen({ resourceSubscriptions: [note(2), note(7)] }),
      ).rejects.toMatchObject({ code: -32602, message: 'Not that' })
      expect([watched.has(note(1)), problems]).toEqual([true, []])
    })
  },
)
