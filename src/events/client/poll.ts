/**
 * Events by poll: one request after the other, each with the cursor of the last result.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { sleep } from '../../patterns/abort.ts'
import { SdkError } from '../../protocol/errors.ts'
import type { Result } from '../../protocol/types.ts'
import type { FollowedSubscription } from './followed-subscription.ts'
import type { Item } from './item-queue.ts'

/**
 * Polls until the subscription ends. The next poll starts when the consumer of this generator has read all events of
 * the previous poll.
 */
export async function* pollEvents(
  followed: FollowedSubscription,
): AsyncGenerator<Item, void, undefined> {
  const { maxEvents, minPollMs } = followed.limits
  let isActive = false
  for (;;) {
    const { params } = followed
    let result: Result
    try {
      const limit = maxEvents === undefined ? {} : { maxEvents }
      result = await followed.request('events/poll', { ...params, ...limit })
    } catch (error) {
      isActive = false
      await followed.waitAfter(error)
      continue
    }
    followed.resetBackoff()
    if (!isActive) yield 'active'
    isActive = true
    const { cursor, truncated, hasMore, nextPollMs } = result
    const events: unknown = result.events
    if (!Array.isArray(events)) {
      throw new SdkError('INVALID_MESSAGE', '"events/poll" returned an invalid result', {
        data: result,
      })
    }
    if (truncated === true && typeof cursor === 'string') yield 'gap'
    for (const event of events as unknown[]) yield { event }
    yield { cursor }
    // A server that sends neither events nor a new cursor must not be polled without a wait
    const isStuck = events.length === 0 && (cursor ?? null) === params.cursor
    if (hasMore === true && !isStuck) continue
    const suggestedMs = typeof nextPollMs === 'number' ? nextPollMs : 0
    await sleep(Math.max(suggestedMs, minPollMs), followed.signal)
  }
}
