/**
 * Events by `events/stream`: a request whose response is a stream of notifications.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { wasStable } from '../../patterns/reopen.ts'
import { SdkError } from '../../protocol/errors.ts'
import type { JsonRpcNotification } from '../../protocol/types.ts'
import { EventNotification } from '../wire.ts'
import { readEventError } from './event-error.ts'
import type { FollowedSubscription } from './followed-subscription.ts'
import { ItemQueue, type Item } from './item-queue.ts'

/** Opens one stream after the other, each from the last position, until the subscription ends. */
export async function* streamEvents(
  followed: FollowedSubscription,
): AsyncGenerator<Item, void, undefined> {
  for (;;) {
    const openedAt = performance.now()
    try {
      if (!(yield* readStream(followed))) continue
    } catch (error) {
      if (wasStable(openedAt)) followed.resetBackoff()
      // Networks interrupt long responses regularly, so interruptions are not reported
      await followed.waitAfter(error, {
        isReported: (error as SdkError).code !== 'NETWORK',
      })
      continue
    }
    if (wasStable(openedAt)) followed.resetBackoff()
    await followed.waitAfter(new SdkError('NETWORK', 'The server ended the stream'), {
      isReported: false,
    })
  }
}

/**
 * Reads one stream.
 *
 * @returns Whether the server has ended the stream. False if this function closed it, because the
 *   application reads too slowly: the next stream then begins at the position that the application has reached.
 */
async function* readStream(
  followed: FollowedSubscription,
): AsyncGenerator<Item, boolean, undefined> {
  const { signal, limits } = followed
  const queue = new ItemQueue(limits.maxQueued)
  const closing = new AbortController()
  const close = (): void => closing.abort(signal.reason)
  let isOverrun = false
  let isActive = false
  let timer: ReturnType<typeof setTimeout> | undefined
  const restartTimer = (): void => {
    clearTimeout(timer)
    const message = `The stream was silent for ${limits.maxSilenceMs} ms`
    const onSilence = (): void => closing.abort(new SdkError('TIMEOUT', message))
    timer = setTimeout(onSilence, limits.maxSilenceMs)
  }
  const push = (item: Item): void => {
    if (queue.push(item)) return
    isOverrun = true
    queue.end()
    closing.abort()
  }
  const onNotification = (message: JsonRpcNotification): void => {
    restartTimer()
    const { method, params = {} } = message
    const { cursor, truncated, error } = params
    if (method === EventNotification.TERMINATED) {
      followed.endError = readEventError(error)
      return queue.end(followed.endError)
    }
    if (method === EventNotification.ERROR) return followed.report(readEventError(error))
    const wasActive = isActive
    isActive = true
    if (method === EventNotification.ACTIVE) push('active')
    else if (!wasActive) {
      followed.report(
        new SdkError('INVALID_MESSAGE', `The server sent "${method}" before the stream was active`),
      )
    }
    if (method === EventNotification.EVENT) return push({ event: params, cursor })
    if (truncated === true && typeof cursor === 'string') push('gap')
    push({ cursor })
  }
  signal.addEventListener('abort', close)
  if (signal.aborted) close()
  restartTimer()
  const options = { signal: closing.signal, timeoutMs: Infinity, onNotification }
  followed.request('events/stream', followed.params, options).then(
    () => queue.end(),
    (error: Error) => queue.end(error),
  )
  try {
    yield* queue
    // Without a position, the next stream cannot deliver the events that did not fit into the queue
    if (isOverrun && followed.record.cursor === null) {
      const message = `Events of "${followed.record.name}" were skipped: reading is too slow`
      followed.report(new SdkError('LIMIT_EXCEEDED', message))
    }
    return !isOverrun
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', close)
    closing.abort()
  }
}
