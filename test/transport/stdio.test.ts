import { setImmediate } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import type { ProtocolError } from '../../src/protocol/errors.ts'
import type { JsonRpcMessage } from '../../src/protocol/types.ts'
import { stdioTransport, type StdioTransportOptions } from '../../src/transport/stdio/stdio.ts'
import type { Receiver, Transport } from '../../src/protocol/transport.ts'
import { settled } from '../settled.ts'

/** A receiver that notes down what it gets. */
class Notes implements Receiver {
  readonly frames: unknown[] = []
  readonly errors: ProtocolError[] = []
  readonly closes: (Error | undefined)[] = []

  message(frame: unknown): void | Promise<void> {
    this.frames.push(frame)
  }
  malformed(error: ProtocolError): void {
    this.errors.push(error)
  }
  closed(reason?: Error): void {
    this.closes.push(reason)
  }
}

const encode = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)

/** A stream of the chunks, and then its end. */
function streamOf(chunks: Iterable<Uint8Array>): ReadableStream<Uint8Array> {
  const left = chunks[Symbol.iterator]()
  return new ReadableStream({
    pull(controller) {
      const { done, value } = left.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
  })
}

/** Reads the chunks to their end. */
async function read(
  chunks: Iterable<Uint8Array | string>,
  options?: StdioTransportOptions,
): Promise<Notes> {
  const notes = new Notes()
  const ended = new Promise<void>((resolve) => {
    notes.closed = (reason) => {
      notes.closes.push(reason)
      resolve()
    }
  })
  const bytes = Array.from(chunks, (chunk) => (typeof chunk === 'string' ? encode(chunk) : chunk))
  await stdioTransport(streamOf(bytes), new WritableStream(), options).start(notes)
  await ended
  return notes
}

/** A transport that writes into `chunks`. */
function writer(write?: (chunk: Uint8Array) => void | Promise<void>): {
  transport: Transport
  notes: Notes
  chunks: Uint8Array[]
  text: () => string
} {
  const chunks: Uint8Array[] = []
  const notes = new Notes()
  const sink = new WritableStream<Uint8Array>({
    async write(chunk) {
      await write?.(chunk)
      chunks.push(chunk)
    },
  })
  const transport = stdioTransport(new ReadableStream(), sink)
  void transport.start(notes)
  return { transport, notes, chunks, text: () => Buffer.concat(chunks).toString() }
}

const ping = (id: number): JsonRpcMessage => ({ jsonrpc: '2.0', id, method: 'ping' })
const echo = (text: string): JsonRpcMessage => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'echo', arguments: { text } },
})

describe('reading', () => {
  test('a message cut at any byte arrives whole [M-STDIO-004] [B001]', async () => {
    const message = echo('a—é漢😀')
    const bytes = encode(JSON.stringify(message) + '\n')
    for (let cut = 0; cut <= bytes.length; cut++) {
      const notes = await read([bytes.subarray(0, cut), bytes.subarray(cut)])
      expect(notes.frames).toEqual([message])
      expect(notes.errors).toEqual([])
    }
    const notes = await read(Array.from(bytes, (byte) => Uint8Array.of(byte)))
    expect(notes.frames).toEqual([message])
    expect(notes.errors).toEqual([])
  })

  test('many messages in one read arrive in order [L-STDIO-003] [M-STDIO-004]', async () => {
    const messages = Array.from({ length: 500 }, (_, id) => ping(id))
    const text = messages.map((message) => JSON.stringify(message) + '\n').join('')
    expect((await read([text])).frames).toEqual(messages)
    expect((await read([text.slice(0, 1001), text.slice(1001)])).frames).toEqual(messages)
  })

  test('CRLF, blank lines and one byte order mark are tolerated [L-STDIO-003] [M-STDIO-004] [B003]', async () => {
    const line = JSON.stringify(ping(1))
    const chunks = ['\uFEFF' + line, '\r', '\n', '\n\r\n  \n', line + '\r\n']
    const mark = encode('\uFEFF')
    for (const given of [
      chunks,
      [chunks.join('')],
      [mark.subarray(0, 1), mark.subarray(1), chunks.join('').slice(1)],
    ]) {
      const notes = await read(given)
      expect(notes.frames).toEqual([ping(1), ping(1)])
      expect(notes.errors).toEqual([])
    }
  })

  test('a second byte order mark is reported as invalid JSON', async () => {
    const line = '\uFEFF' + JSON.stringify(ping(1)) + '\n'
    const notes = await read([line + line])
    expect(notes.frames).toEqual([ping(1)])
    expect(notes.errors).toHaveLength(1)
  })

  test('a line that is not JSON is reported, and the next one is read [L-STDIO-014] [M-STDIO-012]', async () => {
    const noise = 'Server listening on port 3000\n{"jsonrpc":"2.0","id":9\n'
    const notes = await read([noise + JSON.stringify(ping(10)) + '\n'])
    expect(notes.frames).toEqual([ping(10)])
    expect(notes.errors.map((error) => error.code)).toEqual([-32700, -32700])
    expect(notes.errors[0]!.message).toContain('Server listening')
  })

  test('JSON that is not a message is passed to the receiver, which validates it', async () => {
    const notes = await read(['42\nnull\n[]\n{"__proto__":{"x":1}}\n'])
    expect(notes.frames.slice(0, 3)).toEqual([42, null, []])
    expect(Object.keys(notes.frames[3] as object)).toEqual(['__proto__'])
  })

  test('bytes that are not UTF-8 affect only their own line', async () => {
    const line = encode(JSON.stringify(ping(1)) + '\n')
    const bad = Uint8Array.of(0x22, 0xc3, 0x28, 0x22, 0x0a)
    for (const given of [
      [Buffer.concat([line, bad, line])],
      [line, bad.subarray(0, 2), bad.subarray(2), line],
    ]) {
      const notes = await read(given)
      expect(notes.frames).toEqual([ping(1), ping(1)])
      expect(notes.errors.map((error) => error.code)).toEqual([-32700])
    }
  })

  test('a line over the limit is reported once and skipped, however it is cut', async () => {
    const line = JSON.stringify(ping(1)) + '\n'
    const long = JSON.stringify(echo('x'.repeat(200))) + '\n'
    for (const size of [1, 7, 64, 1000]) {
      const text = line + long + line
      const chunks = Array.from({ length: Math.ceil(text.length / size) }, (_, i) =>
        text.slice(i * size, (i + 1) * size),
      )
      const notes = await read(chunks, { maxMessageBytes: 100 })
      expect(notes.frames).toEqual([ping(1), ping(1)])
      expect(notes.errors.map((error) => error.message)).toEqual([
        'Invalid request: the message is longer than 100 bytes',
      ])
    }
  })

  const filler = { text: 'x'.repeat(600), id: 'inner', method: 'inner', also: '\\","id":7}' }
  const about = { jsonrpc: '2.0' }
  const request = { id: 5, method: 'tools/call' }
  /** What says who waits; of other members those are known that come before. */
  const summarize = ({
    partialMessage: known,
  }: {
    partialMessage?: object | undefined
  }): object | undefined =>
    known &&
    Object.fromEntries(
      Object.entries(known).filter(
        ([name]) => !['jsonrpc', 'params', 'also', 'other'].includes(name),
      ),
    )
  test.each<[string, object, object | undefined]>([
    ['a request', { ...about, ...request, params: filler }, request],
    [
      'a request with its id at the end',
      { method: 'tools/call', params: filler, ...about, id: 'ü"\\\n' },
      { method: 'tools/call', id: 'ü"\\\n' },
    ],
    [
      'a request with everything else at the end',
      { params: filler, id: -1, method: 'x' },
      { id: -1, method: 'x' },
    ],
    ['a notification', { ...about, method: 'x', params: filler }, { method: 'x' }],
    ['a result', { ...about, id: 0, result: filler }, { id: 0, result: {} }],
    ['a result with its id at the end', { result: filler, ...about, id: 5 }, { result: {}, id: 5 }],
    ['an error', { id: 5, error: filler, ...about }, { id: 5, error: {} }],
    ['a request among other members', { ...filler }, { id: 'inner', method: 'inner' }],
    ['another object', { also: filler, other: [filler] }, {}],
    ['a batch', [{ ...request, params: filler }], undefined],
    ['an invalid id', { id: { id: 5 }, method: 'x', params: filler }, { id: {}, method: 'x' }],
  ])('%s over the limit is known by what surrounds its content', async (_, message, known) => {
    const long = JSON.stringify(message)
    const next = JSON.stringify(ping(1)) + '\n'
    const spaced = JSON.stringify(message, undefined, 1).replaceAll('\n', '\r')
    for (const text of [long, spaced])
      for (const size of [1, 64, 333, 5000]) {
        const bytes = encode(text + '\n' + next)
        const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_one, i) =>
          bytes.subarray(i * size, (i + 1) * size),
        )
        const notes = await read(chunks, { maxMessageBytes: 500 })
        expect(notes.frames).toEqual([ping(1)])
        expect(notes.errors.map((error) => [error.code, summarize(error)])).toEqual([
          [-32600, known],
        ])
      }
    const last = await read([long.slice(0, 520), long.slice(520)], { maxMessageBytes: 500 })
    expect(last.errors.map(summarize)).toEqual([known])
  })

  test('a line over the limit is reported at once, if its end can add nothing', async () => {
    for (const begin of ['{"jsonrpc":"2.0","id":5,"method":"x","params":"', 'noise "']) {
      const notes = new Notes()
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
      const input = writable.getWriter()
      const options = { maxMessageBytes: 100 }
      await stdioTransport(readable, new WritableStream(), options).start(notes)
      await input.write(encode(begin + 'x'.repeat(100)))
      await settled()
      expect(notes.errors).toHaveLength(1)
    }
  })

  test('a line exactly at the limit is read', async () => {
    const line = JSON.stringify(ping(1))
    const notes = await read([line + '\n', line.slice(0, 9), line.slice(9) + '\n'], {
      maxMessageBytes: line.length,
    })
    expect(notes.frames).toEqual([ping(1), ping(1)])
  })

  test('64 MB without a line end are not kept [B009]', async () => {
    const chunk = new Uint8Array(65_536).fill(0x78)
    function* flood(): Generator<Uint8Array> {
      for (let i = 0; i < 1024; i++) yield chunk
      yield encode('\n' + JSON.stringify(ping(1)) + '\n')
    }
    const set = vi.spyOn(Uint8Array.prototype, 'set')
    try {
      const notes = await read(flood(), { maxMessageBytes: 1024 * 1024 })
      expect(notes.errors).toHaveLength(1)
      expect(notes.frames).toEqual([ping(1)])
      const kept = set.mock.calls.reduce((sum, [source]) => sum + source.length, 0)
      expect(kept).toBeLessThan(4 * 1024 * 1024)
    } finally {
      set.mockRestore()
    }
  })

  test('a large message in small chunks is copied a bounded number of times [B009]', async () => {
    const copied = async (megabytes: number): Promise<number> => {
      const bytes = encode(JSON.stringify(echo('x'.repeat(megabytes * 1024 * 1024))) + '\n')
      const chunks = Array.from({ length: Math.ceil(bytes.length / 1024) }, (_, i) =>
        bytes.subarray(i * 1024, (i + 1) * 1024),
      )
      const set = vi.spyOn(Uint8Array.prototype, 'set')
      try {
        const notes = await read(chunks, { maxMessageBytes: 16 * 1024 * 1024 })
        expect(notes.frames).toHaveLength(1)
        return set.mock.calls.reduce((sum, [source]) => sum + source.length, 0) / bytes.length
      } finally {
        set.mockRestore()
      }
    }
    expect(await copied(1)).toBeLessThan(4)
    expect(await copied(4)).toBeLessThan(4)
  })

  test('no further message is given while the receiver is busy with one', async () => {
    const notes = new Notes()
    let release = (): void => {}
    notes.message = (frame) => {
      notes.frames.push(frame)
      return new Promise<void>((resolve) => (release = resolve))
    }
    let pulled = 0
    const readable = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          pulled++
          controller.enqueue(encode(`{"n":${pulled}}\n{"m":${pulled}}\n`))
        },
      },
      { highWaterMark: 0 },
    )
    const transport = stdioTransport(readable, new WritableStream())
    await transport.start(notes)
    await settled()
    expect(notes.frames).toEqual([{ n: 1 }])
    release()
    await settled()
    expect(notes.frames).toEqual([{ n: 1 }, { m: 1 }])
    expect(pulled).toBe(1)
    release()
    await settled()
    expect(notes.frames).toHaveLength(3)
    expect(pulled).toBe(2)
    await transport.close()
  })

  test('a last line without its line end is read, and half a message is reported', async () => {
    const line = JSON.stringify(ping(1))
    expect((await read([line + '\n' + line])).frames).toEqual([ping(1), ping(1)])
    const cut = await read([line + '\n' + line.slice(0, 20)])
    expect(cut.frames).toEqual([ping(1)])
    expect(cut.errors).toHaveLength(1)
  })

  test('the end of the stream closes once, without a reason, and sending still works', async () => {
    const written: string[] = []
    const notes = new Notes()
    const sink = new WritableStream<Uint8Array>({
      write: (chunk) => void written.push(Buffer.from(chunk).toString()),
    })
    const transport = stdioTransport(streamOf([]), sink)
    await transport.start(notes)
    await settled()
    expect(notes.closes).toEqual([undefined])
    await transport.send(ping(1))
    await transport.close()
    expect(written).toHaveLength(1)
    expect(notes.closes).toEqual([undefined])
  })

  test('a stream that fails closes once, with a reason, and ends the other stream', async () => {
    const notes = new Notes()
    let aborted = 0
    const transport = stdioTransport(
      new ReadableStream<Uint8Array>({ pull: () => Promise.reject(new Error('ECONNRESET')) }),
      new WritableStream({ abort: () => void aborted++ }),
    )
    await transport.start(notes)
    await settled()
    expect(notes.closes).toMatchObject([{ code: 'CLOSED' }])
    expect(aborted).toBe(1)
    await expect(transport.send(ping(1))).rejects.toMatchObject({ code: 'CLOSED' })
  })
})

describe('writing', () => {
  test('one message is one line with one LF, for any content [L-STDIO-003] [M-STDIO-002] [M-STDIO-003]', async () => {
    const { transport, text } = writer()
    const message = echo('a\nb\r\nc\u2028d\u2029e "q" \\ \u0000')
    await transport.send(message)
    expect(text()).toMatch(/^[^\n\r\u2028\u2029\uFEFF]+\n$/)
    expect(JSON.parse(text())).toEqual(message)
  })

  test('an array of messages is one line [L-STDIO-004]', async () => {
    const { transport, text } = writer()
    await transport.send([ping(1), ping(2)])
    expect(text()).toBe(JSON.stringify([ping(1), ping(2)]) + '\n')
  })

  test('a thousand messages sent at once do not mix, and keep their order [L-STDIO-005] [M-STDIO-015]', async () => {
    const { transport, text } = writer(() => setImmediate())
    const messages = Array.from({ length: 1000 }, (_, n) => echo(`${n}${'é'.repeat(n)}`))
    await Promise.all(messages.map((message) => transport.send(message)))
    const lines = text().trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(messages)
  })

  test('messages of one turn travel as one chunk', async () => {
    const { transport, chunks } = writer()
    await Promise.all([
      Promise.resolve().then(() => transport.send(ping(3))),
      transport.send(ping(1)),
      transport.send(ping(2)),
    ])
    expect(chunks).toHaveLength(1)
  })

  test('send waits until the stream took the message', async () => {
    let release = (): void => {}
    const { transport } = writer(() => new Promise<void>((resolve) => (release = resolve)))
    let taken = false
    const sent = transport.send(ping(1)).then(() => (taken = true))
    await settled()
    expect(taken).toBe(false)
    release()
    await sent
  })

  test('a message that JSON cannot represent is rejected, and the others are sent', async () => {
    const { transport, text } = writer()
    const sent = transport.send(ping(1))
    await expect(transport.send(echo(1n as never))).rejects.toMatchObject({
      code: 'INVALID_USE',
    })
    await sent
    expect(text()).toBe(JSON.stringify(ping(1)) + '\n')
  })
})

describe('closing', () => {
  test('close flushes sent messages, ends the stream, and notifies the receiver once', async () => {
    let closed = 0
    const chunks: Uint8Array[] = []
    const sink = new WritableStream<Uint8Array>({
      async write(chunk) {
        await settled()
        chunks.push(chunk)
      },
      close: () => void closed++,
    })
    const notes = new Notes()
    const transport = stdioTransport(new ReadableStream(), sink)
    await transport.start(notes)
    const message = echo('x'.repeat(1024 * 1024))
    const sent = transport.send(message)
    await Promise.all([transport.close(), transport.close()])
    await sent
    expect(closed).toBe(1)
    expect(Buffer.concat(chunks).toString()).toBe(JSON.stringify(message) + '\n')
    expect(notes.closes).toEqual([undefined])
  })

  test('nothing is received after close', async () => {
    const notes = new Notes()
    let push: (chunk: Uint8Array) => void = () => {}
    const readable = new ReadableStream<Uint8Array>({
      start: (controller) => void (push = (chunk) => controller.enqueue(chunk)),
    })
    const transport = stdioTransport(readable, new WritableStream())
    await transport.start(notes)
    push(encode('{"n":1}\n'))
    const closed = transport.close()
    await closed
    await settled()
    expect(notes.frames).toEqual([])
  })

  test('send after close is refused', async () => {
    const { transport } = writer()
    await transport.close()
    await expect(transport.send(ping(1))).rejects.toMatchObject({
      name: 'SdkError',
      code: 'CLOSED',
    })
  })

  test('a peer that is gone fails the sends and closes once [M-STDIO-033]', async () => {
    let writes = 0
    const { transport, notes } = writer(() => {
      writes++
      throw new Error('EPIPE')
    })
    const sent = [transport.send(ping(1)), transport.send(ping(2))]
    for (const result of await Promise.allSettled(sent)) {
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 'CLOSED' } })
    }
    await expect(transport.send(ping(3))).rejects.toMatchObject({ code: 'CLOSED' })
    await transport.close()
    await settled()
    expect(notes.closes).toMatchObject([{ code: 'CLOSED', cause: { message: 'EPIPE' } }])
    expect(writes).toBe(1)
  })

  test('a receiver that throws closes the transport with a reason', async () => {
    const notes = new Notes()
    notes.message = () => {
      throw new Error('Broken receiver')
    }
    await stdioTransport(streamOf([encode('{}\n')]), new WritableStream()).start(notes)
    await settled()
    expect(notes.closes).toMatchObject([{ code: 'CLOSED', cause: { message: 'Broken receiver' } }])
  })
})

test('a value that is not a stream is a TypeError at once', () => {
  const wrong = {} as never
  expect(() => stdioTransport(wrong, new WritableStream())).toThrow(TypeError)
  expect(() => stdioTransport(new ReadableStream(), wrong)).toThrow(TypeError)
})
