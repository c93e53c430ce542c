/**
 * Converts Node's streams to Web Streams. Unlike `Readable.toWeb`, these functions cost no startup time, and the
 * caller decides what happens to the Node stream when the Web Stream is closed.
 *
 * @see https://streams.spec.whatwg.org/
 */
import type { Readable, Writable } from 'node:stream'

/**
 * How many chunks are buffered before the source is paused. A chunk from a pipe has at most 64 KiB.
 */
const MAX_BUFFERED_CHUNKS = 16

/**
 * A `ReadableStream` over a Node stream.
 *
 * @param onCancel Called when the reader cancels. The rest of the data is discarded.
 */
export function webReadable(stream: Readable, onCancel: () => void): ReadableStream<Uint8Array> {
  let isEnded = false
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const end = (error?: Error): void => {
          if (isEnded) return
          isEnded = true
          if (error) controller.error(error)
          else controller.close()
        }
        stream.on('data', (chunk: Uint8Array) => {
          if (isEnded) return
          controller.enqueue(chunk)
          if ((controller.desiredSize ?? 0) <= 0) stream.pause()
        })
        stream.on('error', end)
        stream.on('end', () => end())
        stream.on('close', () => end(new Error('The stream was closed before its end')))
      },
      pull() {
        stream.resume()
      },
      cancel() {
        isEnded = true
        // The data is still read and discarded, so that the other process never blocks on a full pipe
        stream.resume()
        onCancel()
      },
    },
    { highWaterMark: MAX_BUFFERED_CHUNKS },
  )
}

/**
 * A `WritableStream` over a Node stream.
 *
 * @param end Ends the stream once everything is written.
 * @param writeChunk The original `write` of the stream, if the stream now has another one.
 */
export function webWritable(
  stream: Writable,
  end: () => void,
  writeChunk: Writable['write'] = stream.write.bind(stream),
): WritableStream<Uint8Array> {
  return new WritableStream<Uint8Array>({
    start(controller) {
      const fail = (error: Error): void => controller.error(error)
      stream.on('error', fail)
      stream.on('close', () => fail(new Error('The stream was closed')))
    },
    write(chunk) {
      return new Promise((resolve, reject) => {
        writeChunk(chunk, (error) => (error ? reject(error) : resolve()))
      })
    },
    close: end,
    abort: end,
  })
}
