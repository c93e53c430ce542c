import { describe, expect, it } from 'vitest'
import { ByteBuffer, readBytes, TextBuffer } from '../../src/patterns/bounded-read.ts'

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

  it('gives no bytes where there is no body', async () => {
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
