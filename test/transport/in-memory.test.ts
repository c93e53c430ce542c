import { expect, test } from 'vitest'
import type { JsonRpcMessage } from '../../src/protocol/types.ts'
import { inMemoryTransports } from '../../src/transport/in-memory.ts'
import type { Receiver } from '../../src/protocol/transport.ts'
import { settled } from '../settled.ts'

const ping = (id: number, params = {}): JsonRpcMessage => ({
  jsonrpc: '2.0',
  id,
  method: 'ping',
  params,
})

/** Notes down what arrives, an end as "closed". */
function notes(): Receiver & { got: unknown[] } {
  const got: unknown[] = []
  return {
    got,
    message: (frame) => void got.push(frame),
    malformed: () => {},
    closed: (reason) => void got.push(reason ?? 'closed'),
  }
}

test('messages arrive in order, both ways, and not within send', async () => {
  const [a, b] = inMemoryTransports()
  const [left, right] = [notes(), notes()]
  await Promise.all([a.start(left), b.start(right)])
  const sent = [a.send(ping(1)), a.send(ping(2)), b.send(ping(3))]
  expect(right.got).toEqual([])
  await Promise.all(sent)
  await settled()
  expect(right.got).toEqual([ping(1), ping(2)])
  expect(left.got).toEqual([ping(3)])
})

test('a message is copied as JSON, and shares nothing with its sender', async () => {
  const [a, b] = inMemoryTransports()
  const right = notes()
  await b.start(right)
  await a.start(notes())
  const params = { list: [1], when: new Date(0), gone: undefined }
  await a.send(ping(1, params))
  params.list.push(2)
  await settled()
  expect(right.got).toEqual([ping(1, { list: [1], when: '1970-01-01T00:00:00.000Z' })])
  expect(Object.keys((right.got[0] as { params: object }).params)).not.toContain('gone')
  await expect(a.send(ping(2, { big: 1n }))).rejects.toMatchObject({ code: 'INVALID_USE' })
})

test('messages sent before the peer starts are kept for it', async () => {
  const [a, b] = inMemoryTransports()
  await a.start(notes())
  await a.send(ping(1))
  await a.close()
  const right = notes()
  await b.start(right)
  await settled()
  expect(right.got).toEqual([ping(1), 'closed'])
})

test('closing one side closes both once, after what it had sent', async () => {
  const [a, b] = inMemoryTransports()
  const [left, right] = [notes(), notes()]
  await a.start(left)
  await b.start(right)
  void b.send(ping(2))
  void a.send(ping(1))
  await Promise.all([a.close(), a.close()])
  await settled()
  await b.close()
  await settled()
  expect(right.got).toEqual([ping(1), 'closed'])
  expect(left.got).toEqual(['closed'])
  await expect(a.send(ping(3))).rejects.toMatchObject({ code: 'CLOSED' })
  await expect(b.send(ping(3))).rejects.toMatchObject({ code: 'CLOSED' })
})

test('send waits for a receiver that is far behind', async () => {
  const [a, b] = inMemoryTransports()
  await a.start(notes())
  let release = (): void => {}
  const busy = new Promise<void>((resolve) => (release = resolve))
  let got = 0
  await b.start({
    ...notes(),
    message: () => {
      got++
      return busy
    },
  })
  let sent = 0
  const sending = (async () => {
    for (let id = 0; id < 100; id++) {
      await a.send(ping(id))
      sent++
    }
  })()
  await settled()
  expect(got).toBe(1)
  expect(sent).toBeLessThan(50)
  release()
  await sending
  await settled()
  expect(got).toBe(100)
})

test('a receiver that throws closes both sides, its own with the reason', async () => {
  const [a, b] = inMemoryTransports()
  const [left, right] = [notes(), notes()]
  await a.start(left)
  await b.start({
    ...right,
    message: () => {
      throw new Error('Broken receiver')
    },
  })
  await a.send(ping(1))
  await settled()
  expect(left.got).toEqual(['closed'])
  expect(right.got).toMatchObject([{ code: 'CLOSED', cause: { message: 'Broken receiver' } }])
})
