import type { MessagePortOptions } from '../../src/transport/ports/message-port.ts'
import { settled } from '../settled.ts' // The message-port transport on Node's MessageChannel: https://nodejs.org/api/worker_threads.html
import { connect } from 'edgewise/client'
import { createServer, serveTransport } from 'edgewise/server'
import { messagePortTransport, type Transport } from 'edgewise/transport'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { until } from '../client/peers.ts'

/** A started transport, and the messages of its receiver. */
interface End {
  transport: Transport
  opened: Promise<void>
  taken: unknown[]
  faults: { code: number; message: string }[]
  ends: (Error | undefined)[]
}

const ports: MessagePort[] = []
afterEach(() => {
  for (const port of ports.splice(0)) port.close()
})

function channel(): [MessagePort, MessagePort] {
  const { port1, port2 } = new MessageChannel()
  ports.push(port1, port2)
  return [port1, port2]
}

function begin(port: MessagePort, options?: MessagePortOptions): End {
  const transport = messagePortTransport(port, options)
  const taken: unknown[] = []
  const faults: End['faults'] = []
  const ends: End['ends'] = []
  const opened = Promise.resolve(
    transport.start({
      message: (frame) => void taken.push(frame),
      malformed: ({ code, message }) => void faults.push({ code, message }),
      closed: (reason) => void ends.push(reason),
    }),
  )
  opened.catch(() => {})
  return { transport, opened, taken, faults, ends }
}

async function pair(options?: MessagePortOptions): Promise<[End, End]> {
  const [left, right] = channel()
  const ends: [End, End] = [begin(left, options), begin(right, options)]
  await Promise.all(ends.map(({ opened }) => opened))
  return ends
}

const note = (n: number): { jsonrpc: '2.0'; method: string; params: { n: number } } => ({
  jsonrpc: '2.0',
  method: 'note',
  params: { n },
})

const messages = (end: End): Promise<unknown> => expect.poll(() => end.taken).not.toEqual([])

describe('The message-port transport', () => {
  it('carries whole sessions of every era [L-COM-023] [M-BASE-075]', async () => {
    const server = createServer({ name: 'port', version: '1' })
    server.tool('greet', {}, () => 'hello')
    for (const revision of ['2026-07-28', '2025-11-25', '2024-11-05'] as const) {
      const [near, far] = channel()
      const served = serveTransport(server, messagePortTransport(far))
      const client = await connect(messagePortTransport(near), { revision })
      expect(client.revision).toBe(revision)
      expect((await client.callTool('greet')).content).toEqual([{ type: 'text', text: 'hello' }])
      await client.close()
      await served
    }
  })

  it('loses no message of an end that gets its lock late', async () => {
    let grant = (): void => {}
    const late = new Promise<void>((resolve) => (grant = resolve))
    const request = vi
      .fn((_name: string, _options: object, hold: () => Promise<void>) => hold())
      .mockImplementationOnce(async (_name, _options, hold) => {
        await late
        return hold()
      })
    vi.stubGlobal('navigator', { locks: { request, query: async () => ({ held: [] }) } })
    try {
      const [left, right] = channel()
      const first = begin(left)
      const sent = first.transport.send(note(1))
      const second = begin(right)
      await settled()
      grant()
      await sent
      await messages(second)
      expect(second.taken).toEqual([note(1)])
    } finally {
      vi.unstubAllGlobals()
    }
  })

  it('delivers messages in order that were sent before the other end opened', async () => {
    const [left, right] = channel()
    const first = begin(left)
    const sent = [1, 2, 3].map((n) => first.transport.send(note(n)))
    await settled()
    const second = begin(right)
    await Promise.all(sent)
    await expect.poll(() => second.taken).toEqual([1, 2, 3].map(note))
  })

  it('carries JSON values only, even if structured clone supports more', async () => {
    const [left, right] = await pair()
    await left.transport.send({
      ...note(1),
      params: { gone: undefined, at: new Date(0), run: () => 1 },
    })
    await messages(right)
    expect(right.taken).toEqual([{ ...note(1), params: { at: '1970-01-01T00:00:00.000Z' } }])
    expect(Object.keys((right.taken[0] as { params: object }).params)).toEqual(['at'])
  })

  it('posts text where the other end takes only strings', async () => {
    const [left, right] = channel()
    const seen: unknown[] = []
    right.addEventListener('message', ({ data }) => void seen.push(data))
    const ends = [begin(left, { format: 'text' }), begin(right)]
    await Promise.all(ends.map(({ opened }) => opened))
    await ends[0]!.transport.send(note(1))
    await expect.poll(() => ends[1]!.taken).toEqual([note(1)])
    expect(seen.every((data) => typeof data === 'string')).toBe(true)
  })

  it('starts with plain JSON-RPC without the handshake, and accepts messages of other SDKs', async () => {
    const [left, right] = channel()
    const seen: unknown[] = []
    right.addEventListener('message', ({ data }) => void seen.push(data))
    right.start()
    const end = begin(left, { handshake: false })
    await end.opened
    await end.transport.send(note(1))
    right.postMessage({ ...note(2), left: undefined })
    await messages(end)
    expect(Object.keys(end.taken[0] as object)).toEqual(['jsonrpc', 'method', 'params'])
    await end.transport.close()
    await settled()
    expect(seen).toEqual([note(1)])
  })

  it('times out when the other end does not open in time, and says so', async () => {
    const [left] = channel()
    const end = begin(left, { openTimeoutMs: 30 })
    await expect(end.opened).rejects.toMatchObject({
      code: 'TIMEOUT',
      message: 'No answer on the port within 30 ms',
    })
    await expect(end.transport.send(note(1))).rejects.toMatchObject({ code: 'TIMEOUT' })
  })

  it('serves no client before the handshake', async () => {
    const [left, right] = channel()
    const end = begin(left)
    right.postMessage(note(1))
    await settled()
    expect(end.taken).toEqual([])
    right.postMessage({ edgewise: 'open', id: 'someone', lock: false })
    await end.opened
    right.postMessage(note(2))
    await expect.poll(() => end.taken).toEqual([note(2)])
  })
})

describe('The message-port transport, given an invalid message,', () => {
  const cyclic: Record<string, unknown> = {}
  cyclic.self = cyclic
  let deep: unknown = 1
  for (let at = 0; at < 2_000; at++) deep = [deep]

  it.each([
    ['a cycle', cyclic, -32700],
    ['a map', new Map([[1, 2]]), -32700],
    ['bytes', { jsonrpc: '2.0', method: 'x', params: { bytes: new Uint8Array(3) } }, -32700],
    ['a date', { at: new Date() }, -32700],
    ['a big integer', { big: 1n }, -32700],
    ['nesting without end', deep, -32700],
    ['a long object', { text: 'x'.repeat(20_000) }, -32600],
    ['a long text', `"${'x'.repeat(20_000)}"`, -32600],
    ['a text that is no JSON', '{"jsonrpc"', -32700],
  ])('reports %s and continues', async (_what, data, code) => {
    const [left, right] = channel()
    const [end, other] = [begin(left, { maxMessageLength: 10_000 }), begin(right)]
    await Promise.all([end.opened, other.opened])
    right.postMessage(data)
    await other.transport.send(note(1))
    await messages(end)
    expect(end.faults.map((fault) => fault.code)).toEqual([code])
    expect(end.taken).toEqual([note(1)])
    expect(end.ends).toEqual([])
  })

  it('converts values as JSON would', async () => {
    const [left, right] = channel()
    const [end, other] = [begin(left), begin(right)]
    await Promise.all([end.opened, other.opened])
    right.postMessage({ a: undefined, b: [undefined, Number.NaN, 1] })
    await messages(end)
    expect(JSON.stringify(end.taken)).toBe('[{"b":[null,null,1]}]')
  })

  it('ignores control messages that are malformed', async () => {
    const [left, right] = channel()
    const [end, other] = [begin(left), begin(right)]
    await Promise.all([end.opened, other.opened])
    for (const control of [
      { edgewise: 'bye', id: 'another end' },
      { edgewise: 'ping', id: 5 },
      { edgewise: 'open' },
      { edgewise: 'open', id: 'x'.repeat(1_000_000), lock: true },
      { edgewise: 'open', id: 'third', lock: true, seen: 'fourth' },
    ]) {
      right.postMessage(control)
    }
    await other.transport.send(note(1))
    await expect.poll(() => end.taken.length).toBeGreaterThan(0)
    expect(end.ends).toEqual([])
  })

  it('ignores foreign messages on a shared channel', async () => {
    const [left, right] = channel()
    const worker = {
      postMessage: (data: unknown) => left.postMessage(data),
      addEventListener: left.addEventListener.bind(left),
      removeEventListener: left.removeEventListener.bind(left),
    }
    left.start()
    const end = begin(worker as MessagePort)
    const other = begin(right)
    await Promise.all([end.opened, other.opened])
    for (const foreign of ['hello', { type: 'hot-update' }, new Map(), [1]]) {
      right.postMessage(foreign)
    }
    right.postMessage({ jsonrpc: '2.0', method: new Map() })
    await other.transport.send(note(1))
    await messages(end)
    expect(end.taken).toEqual([note(1)])
    expect(end.faults.map(({ code }) => code)).toEqual([-32700])
  })
})

describe('The end of a message port', () => {
  it('is reported to both sides once, after all messages', async () => {
    const [left, right] = await pair()
    await left.transport.send(note(1))
    await Promise.all([left.transport.close(), left.transport.close()])
    await expect.poll(() => right.ends).toEqual([undefined])
    expect(right.taken).toEqual([note(1)])
    expect(left.ends).toEqual([undefined])
    await expect(left.transport.send(note(2))).rejects.toMatchObject({ code: 'CLOSED' })
    await expect(right.transport.send(note(2))).rejects.toMatchObject({ code: 'CLOSED' })
  })

  it('causes no error when the other end leaves before the handshake', async () => {
    const [near, far] = channel()
    const left = serveTransport(
      createServer({ name: 'left', version: '1' }),
      messagePortTransport(far),
    )
    // Reported by these messages alone: not every browser reports that a port was closed
    near.postMessage({ edgewise: 'bye', id: 'who leaves' })
    await left
  })

  it('is noticed when the port is closed without notice', async () => {
    const [left, right] = channel()
    const ends = [begin(left), begin(right)]
    await Promise.all(ends.map(({ opened }) => opened))
    MessagePort.prototype.close.call(right)
    await expect.poll(() => ends[0]!.ends.length).toBe(1)
    expect(ends[0]!.ends[0]).toMatchObject({ code: 'CLOSED', message: 'The other end is gone' })
  })

  it('is noticed when the application closes the port, where ports have no close event [P026]', async () => {
    const [left, right] = channel()
    for (const port of [left, right]) {
      const listen: typeof port.addEventListener = port.addEventListener.bind(port)
      port.addEventListener = (type: string, ...rest: [EventListenerOrEventListenerObject]) => {
        if (type !== 'close') listen(type, ...rest)
      }
    }
    const server = createServer({ name: 'port', version: '1' })
    server.tool('hang', {}, () => new Promise<never>(() => {}))
    const served = serveTransport(server, messagePortTransport(right))
    const client = await connect(messagePortTransport(left, { silenceMs: Infinity }))
    const call = client.callTool('hang')
    await client.ping()
    right.close()
    await expect(call).rejects.toMatchObject({ code: 'CLOSED' })
    await served
    expect(right.close).toBe(MessagePort.prototype.close)
  })

  it('is noticed when the other end goes silent, but not while it answers', async () => {
    const [left, right] = channel()
    const asked: unknown[] = []
    let answers = true
    right.addEventListener('message', ({ data }) => {
      asked.push(data.edgewise)
      if (data.edgewise === 'open')
        right.postMessage({ edgewise: 'open', id: 'other', lock: false })
      if (data.edgewise === 'ping' && answers) right.postMessage({ edgewise: 'pong', id: 'other' })
    })
    right.start()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const end = begin(left, { silenceMs: 300 })
    await end.opened
    const pass = async (): Promise<void> => {
      vi.advanceTimersByTime(150)
      await settled()
    }
    for (let half = 0; half < 8; half++) await pass()
    expect(asked.filter((what) => what === 'ping').length).toBeGreaterThan(2)
    expect(end.ends).toEqual([])
    answers = false
    for (let half = 0; half < 3; half++) await pass()
    await expect.poll(() => end.ends.length).toBe(1)
    expect(end.ends[0]).toMatchObject({ code: 'CLOSED', message: 'The other end went silent' })
  })

  it('comes when another takes the place of the other end', async () => {
    const [left, right] = channel()
    const [end, other] = [begin(left), begin(right)]
    await Promise.all([end.opened, other.opened])
    right.postMessage({ edgewise: 'open', id: 'newcomer', lock: false })
    await expect.poll(() => end.ends.length).toBe(1)
    expect(end.ends[0]?.message).toBe('The other end was replaced')
  })

  it('comes with a reason when a receiver fails', async () => {
    const [left, right] = channel()
    const transport = messagePortTransport(left)
    const ends: (Error | undefined)[] = []
    const started = transport.start({
      message: () => Promise.reject(new Error('No room')),
      malformed() {},
      closed: (reason) => void ends.push(reason),
    })
    const other = begin(right)
    await Promise.all([started, other.opened])
    await other.transport.send(note(1))
    await expect.poll(() => ends.length).toBe(1)
    expect(ends[0]).toMatchObject({ message: 'The receiver of the messages failed' })
  })

  it.each<[string, MessagePortOptions, (post: (data: unknown) => void) => void]>([
    ['the other end does not open in time', { openTimeoutMs: 20 }, () => {}],
    [
      'the other end is silent for too long',
      { silenceMs: 40 },
      (post) => post({ edgewise: 'open', id: 'other', lock: false }),
    ],
    [
      'its receiver fails',
      {},
      (post) => {
        post({ edgewise: 'open', id: 'other', lock: false })
        post(note(1))
      },
    ],
  ])('is reported to the other end when %s', async (_why, options, act) => {
    const [left, right] = channel()
    const said: unknown[] = []
    right.addEventListener('message', ({ data }) => {
      said.push(data.edgewise)
      if (data.edgewise === 'open') act((data) => right.postMessage(data))
    })
    right.start()
    const transport = messagePortTransport(left, options)
    const started = transport.start({
      message: () => Promise.reject(new Error('No room')),
      malformed() {},
      closed() {},
    })
    Promise.resolve(started).catch(() => {})
    await expect.poll(() => said.at(-1)).toBe('bye')
  })

  it('leaves no call waiting', async () => {
    const server = createServer({ name: 'port', version: '1' })
    const seen: AbortSignal[] = []
    server.tool('hang', {}, (_args, ctx) => {
      seen.push(ctx.signal)
      return new Promise<never>(() => {})
    })
    const [near, far] = channel()
    const served = serveTransport(server, messagePortTransport(far))
    const client = await connect(messagePortTransport(near))
    const call = client.callTool('hang')
    await until(() => seen.length === 1)
    far.close()
    await expect(call).rejects.toMatchObject({ code: 'CLOSED' })
    await served
    expect(seen[0]?.aborted).toBe(true)
  })
})

describe('A busy receiver', () => {
  it('gets one message at a time, in order', async () => {
    const [left, right] = channel()
    const transport = messagePortTransport(left)
    const log: string[] = []
    const started = transport.start({
      async message(frame) {
        const { n } = (frame as ReturnType<typeof note>).params
        log.push(`begin ${n}`)
        await settled()
        log.push(`end ${n}`)
      },
      malformed() {},
      closed() {},
    })
    const other = begin(right)
    await Promise.all([started, other.opened])
    await Promise.all([1, 2, 3].map((n) => other.transport.send(note(n))))
    await expect.poll(() => log.length).toBe(6)
    expect(log).toEqual(['begin 1', 'end 1', 'begin 2', 'end 2', 'begin 3', 'end 3'])
  })
})

describe('A value that is not a port', () => {
  it('is refused at once', () => {
    const none: unknown = { postMessage: 1 }
    expect(() => messagePortTransport(none as MessagePort)).toThrow(
      'A message port or a worker is required',
    )
  })
})
