/**
 * Node's streams as Web Streams: `Readable.toWeb` without its cost at start, and with a say in what
 * ends with the stream.
 *
 * @see https://streams.spec.whatwg.org/
 */
import type { Readable, Writable } from 'node:stream'

/** How many chunks wait in memory before the source is paused. A pipe gives at most 64 KiB each. */
const CHUNKS = 16

/**
 * A Web stream of what a Node stream gives.
 *
 * @param cancel What to do when the reader wants no more. The rest of the data is thrown away.
 */
export function webReadable(stream: Readable, cancel: () => void): ReadableStream<Uint8Array> {
  let over = false
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const end = (error?: Error): void => {
          if (over) return
          over = true
          if (error) controller.error(error)
          else controller.close()
        }
        stream.on('data', (chunk: Uint8Array) => {
          if (over) return
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
        over = true
        // Flowing with nobody interested: the other end is never left waiting on a full pipe.
        stream.resume()
        cancel()
      },
    },
    { highWaterMark: CHUNKS },
  )
}

/**
 * A Web stream into a Node stream.
 *
 * @param write The stream's own `write`, where another has taken its place.
 * @param end Ends the stream once all is written.
 */
export function webWritable(
  stream: Writable,
  end: () => void,
  write: Writable['write'] = stream.write.bind(stream),
): WritableStream<Uint8Array> {
  return new WritableStream<Uint8Array>({
    start(controller) {
      const fail = (error: Error): void => controller.error(error)
      stream.on('error', fail)
      stream.on('close', () => fail(new Error('The stream was closed')))
    },
    write(chunk) {
      return new Promise((resolve, reject) => {
        write(chunk, (error) => (error ? reject(error) : resolve()))
      })
    },
    close: end,
    abort: end,
  })
}
