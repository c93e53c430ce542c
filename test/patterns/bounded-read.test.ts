import { describe, expect, it, test } from 'vitest'
import { ByteBuffer, readBytes, readText, TextBuffer } from '../../src/patterns/bounded-read.ts'

describe('readBytes', () => {
  function stream(chunks: readonly Uint8Array<ArrayBuffer>[], onCancel = (): void => {}) {
    const left = [...chunks]
    return new ReadableStream<Uint8Array<ArrayBuffer>>({
      pull(controller) {
        const chunk = left.shift()
        if (chunk) controller.enqueue(chunk)
        else controller.close()
      },
      cancel: onCancel,
    })
  }

  it('gives as many bytes as the limit allows', async () => {
    const chunks = [1, 2, 3].map((byte) => new Uint8Array(1000).fill(byte))
    const bytes = await readBytes(stream(chunks), 3000)
    expect(bytes).toEqual(Uint8Array.from(chunks.flatMap((chunk) => [...chunk])))
  })

  it('gives nothing and cancels the stream at the first byte beyond the limit', async () => {
    let cancelled = false
    const endless = stream(Array(10).fill(new Uint8Array(1000)), () => (cancelled = true))
    expect(await readBytes(endless, 2999)).toBeUndefined()
    expect(cancelled).toBe(true)
  })

  it('returns no bytes if there is no body', async () => {
    expect(await readBytes(null, 10)).toHaveLength(0)
  })
})

it('a ByteBuffer gives what was appended since it was cleared', () => {
  const buffer = new ByteBuffer()
  buffer.append(new Uint8Array(100_000).fill(1))
  buffer.clear()
  buffer.append(Uint8Array.of(2, 3))
  buffer.append(Uint8Array.of(4))
  expect(buffer.bytes).toEqual(Uint8Array.of(2, 3, 4))
})

it('a TextBuffer gives what was appended since it was taken', () => {
  const buffer = new TextBuffer()
  const pieces = Array.from({ length: 1000 }, (_, i) => `${i},`)
  for (const piece of pieces) buffer.append(piece)
  expect(buffer).toHaveLength(pieces.join('').length)
  expect(buffer.take()).toBe(pieces.join(''))
  expect(buffer.take()).toBe('')
})

describe('The text of a response', () => {
  const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
  const { signal } = new AbortController()

  /** A response whose body comes in pieces, and what becomes of it. */
  function response(pieces: readonly (string | Uint8Array)[], ends = true) {
    const seen = { cancelled: false }
    const left = pieces.map((piece) => (typeof piece === 'string' ? encode(piece) : piece))
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>(
      {
        pull(controller) {
          const piece = left.shift()
          if (piece) controller.enqueue(Uint8Array.from(piece))
          else if (ends) controller.close()
          else return new Promise(() => {})
        },
        cancel: () => void (seen.cancelled = true),
      },
      { highWaterMark: 0 },
    )
    return { seen, response: new Response(body) }
  }

  test('is read to its end, with characters that are cut anywhere', async () => {
    const bytes = encode('für ☃')
    const pieces = Array.from(bytes, (byte) => Uint8Array.of(byte))
    expect(await readText(response(pieces).response, 100, signal)).toBe('für ☃')
    expect(await readText(new Response(null), 100, signal)).toBe('')
  })

  test('may be as long as its limit, and not longer', async () => {
    expect(await readText(response(['abc', 'de']).response, 5, signal)).toBe('abcde')
    const { response: long, seen } = response(['abc', 'def'], false)
    await expect(readText(long, 5, signal)).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' })
    expect(seen.cancelled).toBe(true)
  })

  test('is its first piece where its beginning is enough', async () => {
    const { response: begun, seen } = response(['abc', 'def'], false)
    expect(await readText(begun, 100, signal, true)).toBe('abc')
    await expect.poll(() => seen.cancelled).toBe(true)
  })

  test('ends when its signal fires, and so does the body', async () => {
    const controller = new AbortController()
    const { response: slow, seen } = response(['abc'], false)
    const reading = readText(slow, 100, controller.signal)
    controller.abort()
    await reading
    expect(seen.cancelled).toBe(true)
  })
})
