// Memory that sessions and streams share, however many of them there are.
import { describe, expect, it } from 'vitest'
import { EventStream } from '#internal/http'
import {
  createMemorySessionStore,
  type EventStore,
  type SessionRecord,
} from '../../src/presets/server.ts'
import { stdioTransport } from '../../src/transport/index.ts'

const record: SessionRecord = {
  revision: '2025-11-25',
  clientInfo: { name: 'test', version: '1' },
  clientCapabilities: {},
  initialized: true,
  subscriptions: [],
}

/** The messages that a events still has after the first one of a stream. */
function kept(events: EventStore, ids: (string | undefined)[]) {
  return ids.filter((id) => id !== undefined && events.replayEventsAfter(id) !== undefined).length
}

describe('The event stores of a session store in memory', () => {
  it('share one bound for any number of sessions [S009]', async () => {
    const store = createMemorySessionStore()
    const message = 'x'.repeat(1024 * 1024)
    let all = 0
    const logs = []
    for (let n = 0; n < 40; n++) {
      const events = store.eventStore(await store.create(record))
      logs.push({ events, ids: [1, 2, 3].map(() => events.storeEvent('stream', message)) })
    }
    for (const { events, ids } of logs) all += kept(events, ids)
    expect(all).toBe(63)
  })

  it('evict from the session that uses most [S009]', async () => {
    const store = createMemorySessionStore({ maxTotalSize: 10_000 })
    const quiet = store.eventStore(await store.create(record))
    const busy = store.eventStore(await store.create(record))
    const first = quiet.storeEvent('stream', 'x'.repeat(1000))
    const ids = Array.from({ length: 50 }, () => busy.storeEvent('stream', 'x'.repeat(1000)))
    expect(quiet.replayEventsAfter(first ?? '')).toEqual({ stream: 'stream', events: [] })
    expect(kept(busy, ids)).toBe(7)
  })

  it('count events without a message [S009]', async () => {
    const store = createMemorySessionStore({ maxTotalSize: 1280 })
    const events = store.eventStore(await store.create(record))
    const ids = Array.from({ length: 50 }, () => events.storeEvent('stream', ''))
    expect(kept(events, ids)).toBe(10)
  })

  it('give their room back when a session ends [S009]', async () => {
    const store = createMemorySessionStore({ maxTotalSize: 3000 })
    for (let n = 0; n < 10; n++) {
      const id = await store.create(record)
      const events = store.eventStore(id)
      const ids = [1, 2].map(() => events.storeEvent('stream', 'x'.repeat(1000)))
      expect(kept(events, ids)).toBe(2)
      await store.remove(id)
      // Its streams may still append what they send last
      events.storeEvent('stream', 'x'.repeat(1000))
    }
  })
})

describe('Event streams whose readers are slow', () => {
  const data = `data: ${'x'.repeat(1024 * 1024)}\n\n`
  function slow(megabytes: number): { stream: EventStream; gone: Error[] } {
    const gone: Error[] = []
    const stream = new EventStream({ keepAliveMs: 0, onDisconnect: (reason) => gone.push(reason) })
    for (let n = 0; n < megabytes; n++) void stream.write(data)
    return { stream, gone }
  }

  it('have 64 MiB together: beyond that, the one with most is cut [S009]', async () => {
    const slowest = slow(10)
    const others = Array.from({ length: 12 }, () => slow(5))
    expect(slowest.stream.open).toBe(false)
    expect(slowest.gone).toMatchObject([{ code: 'LIMIT_EXCEEDED' }])
    expect(others.filter(({ stream }) => stream.open)).toHaveLength(12)
    for (const { stream } of others) await stream.body.cancel()
  })

  it('are cut as well after their last event was sent [S009]', async () => {
    const ended = slow(10).stream
    ended.close()
    const others = Array.from({ length: 12 }, () => slow(5).stream)
    await expect(new Response(ended.body).text()).rejects.toThrow('The client reads too slowly')
    for (const stream of others) await stream.body.cancel()
  })

  it('have all of it again once they have caught up [S009]', async () => {
    for (let n = 0; n < 5; n++) {
      const { stream } = slow(14)
      stream.close()
      expect((await new Response(stream.body).text()).length).toBe(14 * data.length)
    }
    const others = Array.from({ length: 4 }, () => slow(14).stream)
    expect(others.every(({ open }) => open)).toBe(true)
    for (const stream of others) await stream.body.cancel()
  })
})

it('a stdio peer that does not read is abandoned when 16 Mi characters wait for it [S009]', async () => {
  const never = new WritableStream<Uint8Array>({ write: () => new Promise(() => {}) })
  const transport = stdioTransport(new ReadableStream(), never)
  const closed = new Promise<Error | undefined>((resolve) => {
    void transport.start({ message: () => {}, malformed: () => {}, closed: resolve })
  })
  const params = { data: 'x'.repeat(1024 * 1024) }
  for (let n = 0; n < 30; n++) {
    transport.send({ jsonrpc: '2.0', method: 'notifications/message', params }).catch(() => {})
    await Promise.resolve()
  }
  expect(await closed).toMatchObject({ code: 'LIMIT_EXCEEDED' })
})
