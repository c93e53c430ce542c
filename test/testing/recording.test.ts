import { describe, expect, test } from 'vitest'
import type { RecordedFrame } from '../../src/testing/recording.ts'
import { connect, type Client, type ConnectOptions } from '../../src/presets/client.ts'
import { revisions } from '../../src/index.ts'
import { serveTransport } from '../../src/presets/server.ts'
import { inMemoryTransports, recordTransport, replayTransport } from '../../src/testing/index.ts'
import { makeServer } from '../server/fixture.ts'
import { closing } from '../closing.ts'

const answering: ConnectOptions = {
  onElicit: () => ({ action: 'accept', content: { yes: true } }),
}

/** What the client does in every test. */
async function use(client: Client): Promise<unknown[]> {
  const progress: number[] = []
  const results = [
    (await client.listAllTools()).map(({ name }) => name),
    (await client.callTool('add', { a: 1, b: 2 })).structuredContent,
    (await client.callTool('confirm', { what: 'tea' })).content,
    (await client.callTool('chat', {}, { onProgress: ({ progress: done }) => progress.push(done) }))
      .content,
  ]
  return [...results, progress]
}

async function recorded(options: ConnectOptions): Promise<[unknown[], RecordedFrame[]]> {
  const [near, far] = inMemoryTransports()
  void serveTransport(makeServer().server, far)
  const { transport, frames } = recordTransport(near)
  const client = await connect(transport, { ...answering, ...options })
  const results = await use(client)
  await client.close()
  return [results, frames]
}

const ASKING = revisions.map(({ version }) => version).filter((version) => version >= '2025-06-18')

describe('a recording', () => {
  test.each(ASKING)('of %s plays again, without the server, from JSON', async (revision) => {
    const [results, frames] = await recorded({ revision })
    const stored = JSON.parse(JSON.stringify(frames)) as RecordedFrame[]
    const client = closing(await connect(replayTransport(stored), { ...answering, revision }))
    expect(await use(client)).toEqual(results)
  })

  test('that differs ends the connection and says how', async () => {
    const [, frames] = await recorded({ revision: '2026-07-28' })
    const client = closing(
      await connect(replayTransport(frames), { ...answering, revision: '2026-07-28' }),
    )
    await expect(client.callTool('add', { a: 1, b: 2 })).rejects.toMatchObject({
      code: 'CLOSED',
      message: expect.stringContaining('it has "tools/list", not "tools/call"'),
    })
  })

  test('that differs in params reports both', async () => {
    const [, frames] = await recorded({ revision: '2026-07-28' })
    const client = closing(
      await connect(replayTransport(frames), { ...answering, revision: '2026-07-28' }),
    )
    await client.listAllTools()
    await expect(client.callTool('add', { a: 1, b: 3 })).rejects.toMatchObject({
      message: expect.stringContaining(
        'in "tools/call", "params.arguments.b" was 2, and is 3; record it again if the change is intended',
      ),
    })
  })

  test.each(ASKING)(
    'of %s plays to a client that counts and calls itself differently',
    async (revision) => {
      const [results, frames] = await recorded({ revision })
      const text = JSON.stringify(frames)
        .replaceAll(/"(id|progressToken)":(\d+)/g, (_, key, id) => `"${key}":${Number(id) + 100}`)
        .replaceAll('"name":"edgewise"', '"name":"other"')
      const transport = replayTransport(JSON.parse(text) as RecordedFrame[])
      const client = closing(await connect(transport, { ...answering, revision }))
      expect(await use(client)).toEqual(results)
      expect(transport.remaining).toEqual([])
    },
  )

  test('that was not played to its end reports the remaining messages', async () => {
    const [, frames] = await recorded({ revision: '2026-07-28' })
    const transport = replayTransport(frames)
    closing(await connect(transport, { ...answering, revision: '2026-07-28' }))
    expect(transport.remaining[0]).toMatchObject({
      direction: 'sent',
      frame: { method: 'tools/list' },
    })
  })

  test.each([
    [{ direction: 'sent', frame: 5 }, 'Cannot replay frame 0 of the recording: Invalid request'],
    [{ direction: 'up', frame: {} }, 'the direction is neither "sent" nor "received"'],
    [null, 'the direction is neither "sent" nor "received"'],
  ])('with a frame such as %j is refused', (frame, reason) => {
    const frames = JSON.parse(JSON.stringify([frame])) as RecordedFrame[]
    expect(() => replayTransport(frames)).toThrow(reason)
  })

  test('has both directions in order', async () => {
    const [, frames] = await recorded({ revision: '2025-11-25' })
    const said = frames.slice(0, 3).map(({ direction, frame }) => {
      return [direction, (frame as { method?: string }).method]
    })
    expect(said).toEqual([
      ['sent', 'initialize'],
      ['received', undefined],
      ['sent', 'notifications/initialized'],
    ])
  })
})
