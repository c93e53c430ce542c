// One event type gives equal events in all modes, on every storage.
import { events, streams, webhooks } from '../../src/events/index.ts'
import type { ServerEvents } from '../../src/events/server-events.ts'
import type { EventStorage } from '../../src/events/storage.ts'
import type { JsonObject } from '../../src/index.ts'
import { createHandler, createServer } from '../../src/presets/server.ts'
import { equal, until } from '../runtimes/harness.ts'
import { httpPeer, type Peer } from './fixture.ts'

const name = 'build.finished'
const url = 'https://hooks.example.net/in'
const secret = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8='

/** A server on a storage. Its webhooks fail while `delivered` is undefined. */
function serve(
  storage: EventStorage,
  delivered?: JsonObject[],
): { builds: ServerEvents; http: Peer; emit: (ids: string[]) => Promise<void> } {
  const fetch = async (_url: string, { body }: { body?: Uint8Array }): Promise<Response> => {
    delivered?.push(JSON.parse(new TextDecoder().decode(body)) as JsonObject)
    return new Response(null, { status: delivered ? 204 : 503 })
  }
  const options = { allowedUrls: [url], isVerified: () => true, fetch }
  const builds = events({ storage, streams: streams(), webhooks: webhooks(options) })
  const finished = builds.type(name, {
    matches: (_input, payload) => (payload as JsonObject).project === 'lantern',
    transform(payload) {
      const { token: _, ...rest } = payload as JsonObject
      return rest
    },
  })
  const server = createServer({ name: 'builds', version: '1' })
  server.extend(builds)
  return {
    builds,
    http: httpPeer(createHandler(server), { caller: { principal: 'alice' } }),
    async emit(ids) {
      for (const eventId of ids) {
        const project = eventId.startsWith('other') ? 'other' : 'lantern'
        await finished.emit({ project, token: 'x', n: 2 ** 40 }, { eventId, meta: { eventId } })
      }
    },
  }
}

/** Events without what only some modes have. */
function occurrences(sent: readonly (JsonObject | undefined)[]): JsonObject[] {
  return sent.map((event) => {
    const { eventId, timestamp, data, name: type } = event ?? {}
    return { eventId, timestamp, data, name: type, traced: (event?._meta as JsonObject).eventId }
  })
}

/** Emits before and after a restart, and compares what each mode delivers. */
export async function compareModes(storage: EventStorage, reopened: EventStorage): Promise<void> {
  const before = serve(storage)
  const { cursor } = await before.http.result('events/poll', { name })
  const delivery = { mode: 'webhook', url, secret }
  await before.http.result('events/subscribe', { name, delivery })
  await before.emit(['a', 'other_1', 'b'])
  await before.builds.close()

  // As if the delay after the failed attempt had passed
  const [stored] = await reopened.list({}, 1)
  if (stored) await reopened.save({ ...stored, version: stored.version + 1, dueAt: Date.now() })
  const delivered: JsonObject[] = []
  const after = serve(reopened, delivered)
  const stream = after.http.open('events/stream', { name, cursor })
  await after.emit(['c', 'other_2'])
  await stream.received('event', 3)
  await until('the webhook has three events', () => delivered.length === 3)
  const polled = await after.http.result('events/poll', { name, cursor })
  const expected = occurrences(polled.events as JsonObject[])
  equal(
    expected.map(({ eventId }) => eventId),
    ['a', 'b', 'c'],
  )
  equal(expected[0]?.data, { project: 'lantern', n: 2 ** 40 })
  equal(occurrences(stream.of('event').map(({ params }) => params)), expected)
  equal(occurrences(delivered), expected)
  stream.cancel()
  await after.builds.close()
}
