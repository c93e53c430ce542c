/**
 * Bun's sinks as Web Streams.
 *
 * @see https://streams.spec.whatwg.org/
 */
import type { FileSink } from 'bun'

/** A `WritableStream` over a Bun sink. It awaits the sink's promises to notice a full or broken sink. */
export function webWritable(sink: FileSink): WritableStream<Uint8Array> {
  const end = async (): Promise<void> => {
    await sink.end()
  }
  return new WritableStream<Uint8Array>({
    async write(chunk) {
      await sink.write(chunk)
      await sink.flush()
    },
    close: end,
    abort: end,
  })
}
