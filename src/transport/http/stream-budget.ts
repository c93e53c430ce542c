/**
 * Limits the bytes that are queued for slow readers, in all event streams of an isolate together. With a limit per
 * stream alone, clients could exhaust the memory by opening many streams.
 *
 * @see https://streams.spec.whatwg.org/#rs-default-controller-desired-size
 */

/** The maximum number of bytes queued for slow readers, in all streams together. */
const MAX_QUEUED_BYTES = 64 * 1024 * 1024
/** The overhead of a slow stream in addition to its queued bytes. */
const STREAM_OVERHEAD_BYTES = 1024

type Controller = ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>

/** The slow streams, each with a function that closes it. */
const slowStreams = new Map<Controller, () => void>()
/**
 * The bytes queued in slow streams. An upper bound, because bytes that are read are not subtracted until the
 * bound exceeds the limit, and the bytes are counted again.
 */
let queuedBytes = 0

/**
 * Counts the queued bytes of a stream. If the total is too large, closes the streams with the most
 * queued bytes, including ended streams that are still being read.
 */
export function countQueued(controller: Controller, bytes: number, close: () => void): void {
  slowStreams.set(controller, close)
  queuedBytes += bytes + STREAM_OVERHEAD_BYTES
  while (queuedBytes > MAX_QUEUED_BYTES) {
    queuedBytes = 0
    let mostBytes = 0
    let closeSlowest = (): void => {}
    for (const [stream, closeStream] of slowStreams) {
      const streamBytes = -(stream.desiredSize ?? 0)
      if (streamBytes <= 0) slowStreams.delete(stream)
      else queuedBytes += streamBytes + STREAM_OVERHEAD_BYTES
      if (streamBytes > mostBytes) {
        mostBytes = streamBytes
        closeSlowest = closeStream
      }
    }
    if (queuedBytes > MAX_QUEUED_BYTES) closeSlowest()
  }
}

/** Forgets a stream whose reader has caught up. The next recount corrects the total. */
export function forgetStream(controller: Controller): void {
  slowStreams.delete(controller)
}
