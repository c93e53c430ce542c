/**
 * A limit for the bytes queued for slow readers in all event streams of an isolate. Clients could
 * multiply a limit per stream by opening many streams.
 *
 * @see https://streams.spec.whatwg.org/#rs-default-controller-desired-size
 */

/** The maximum number of bytes queued for slow readers, in all streams together. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024
/** The overhead of a lagging stream in addition to its queued bytes. */
const STREAM_BYTES = 1024

type Controller = ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>

/** The lagging streams, each with a function that closes it. */
const lagging = new Map<Controller, () => void>()
/** An upper bound: bytes that were read since are not subtracted. */
let waiting = 0

/**
 * Counts the queued bytes of a stream. If the total is too large, closes the streams with the most
 * queued bytes, including ended streams that are still being read.
 */
export function countWaiting(controller: Controller, bytes: number, cut: () => void): void {
  lagging.set(controller, cut)
  waiting += bytes + STREAM_BYTES
  while (waiting > MAX_WAITING_BYTES) {
    waiting = 0
    let most = 0
    let cutSlowest = (): void => {}
    for (const [each, cutEach] of lagging) {
      const queued = -(each.desiredSize ?? 0)
      if (queued <= 0) lagging.delete(each)
      else waiting += queued + STREAM_BYTES
      if (queued > most) [most, cutSlowest] = [queued, cutEach]
    }
    if (waiting > MAX_WAITING_BYTES) cutSlowest()
  }
}

/** Removes a stream whose reader has caught up. */
export function forgetWaiting(controller: Controller): void {
  lagging.delete(controller)
}
