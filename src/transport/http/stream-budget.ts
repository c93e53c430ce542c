/**
 * A limit for the bytes that wait for slow readers in all event streams of an isolate: a limit for
 * each stream alone would be multiplied by the number of streams that a client opens.
 *
 * @see https://streams.spec.whatwg.org/#rs-default-controller-desired-size
 */

/** The most bytes that wait for slow readers, of all streams together. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024
/** The overhead of a lagging stream in addition to the bytes that wait in it. */
const STREAM_BYTES = 1024

type Controller = ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>

/** The lagging streams, with a function that cuts each. */
const lagging = new Map<Controller, () => void>()
/** An upper bound: bytes that were read since they were counted are not subtracted. */
let waiting = 0

/**
 * Counts bytes that wait in a stream. When all streams together have too many, those with the most
 * are cut, closed ones that are still read included.
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

/** Forgets a stream whose reader has caught up. */
export function forgetWaiting(controller: Controller): void {
  lagging.delete(controller)
}
