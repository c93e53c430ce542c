// Gateways to servers of many resources: how many of them are watched.
import { describe, expect, it, vi } from 'vitest'
import type { ConnectOptions, Client } from '../../src/client/index.ts'
import type { SubscriptionFilter } from '../../src/index.ts'
import { createGateway, createServer, type Server } from '../../src/server/index.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import { closing } from '../closing.ts'

// As many as a session may watch: 1,000 otherwise
vi.mock('../../src/server/subscriptions.ts', async (original) => ({
  ...(await original<object>()),
  MAX_WATCHED_RESOURCES: 10,
}))

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
      inner.resourceTemplate('note://{id}', { name: 'note' }, () => 'note')
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
        const { resourceSubscriptions = [] } = params.notifications as SubscriptionFilter
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

    it('watches those that were asked for last, where nobody is known to listen', async () => {
      const { inner, gateway, watched, problems } = await many()
      const updated: string[] = []
      const options = {
        revision: '2025-11-25',
        onResourceUpdated: (uri: string) => updated.push(uri),
      }
      const one = await connected(gateway.server, options as ConnectOptions)
      for (const uri of notes(0, 6)) await one.subscribe(uri)
      const other = await connected(gateway.server, { revision: '2025-11-25' })
      await other.subscribe(note(0))
      for (const uri of notes(6, 12)) await other.subscribe(uri)
      await expect
        .poll(() => [...watched].toSorted())
        .toEqual([note(0), ...notes(3, 12)].toSorted())
      inner.notify.resourceUpdated(note(2))
      inner.notify.resourceUpdated(note(3))
      await expect.poll(() => updated).toEqual([note(3)])
      const third = await connected(gateway.server, { revision: '2025-11-25' })
      await third.subscribe(note(2))
      expect(watched.has(note(2))).toBe(true)
      expect(problems).toEqual([])
    })

    it('takes none from who listens, and refuses to watch more until somebody stops', async () => {
      const { inner, gateway, watched } = await many()
      const one = await connected(gateway.server)
      const changes = await one.listen({ resourceSubscriptions: notes(0, 10) })
      const other = await connected(gateway.server)
      const more = { resourceSubscriptions: [note(0), note(10)] }
      const refusal = { code: -32603, message: 'Too many resources are watched for now' }
      await expect(other.listen(more)).rejects.toMatchObject(refusal)
      const session = await connected(gateway.server, { revision: '2025-11-25' })
      await expect(session.subscribe(note(10))).rejects.toMatchObject(refusal)
      expect([...watched].toSorted()).toEqual(notes(0, 10).toSorted())
      inner.notify.resourceUpdated(note(0))
      expect((await changes[Symbol.asyncIterator]().next()).value?.params).toMatchObject({
        uri: note(0),
      })
      changes.close()
      await expect
        .poll(() => other.listen(more).then((feed) => [feed.close(), feed.filter][1], String))
        .toEqual(more)
      expect([watched.size, watched.has(note(10))]).toEqual([10, true])
    })
  },
)
