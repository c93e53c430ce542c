/**
 * Mechanisms shared with the runtimes; not part of the public API.
 *
 * @module
 */
export { sleep, untilAborted } from '../patterns/abort.ts'
export { backoffMs } from '../patterns/backoff.ts'
export { boundedCache } from '../patterns/bounded-cache.ts'
export { callHook } from '../patterns/hooks.ts'
export { requireKnown, type OptionNames } from '../patterns/known-options.ts'
export { isBrowserLoopback } from '../patterns/loopback.ts'
export { isAuthority } from '../patterns/origin.ts'
export { isPrivateHost } from '../patterns/private-hosts.ts'
export { semaphore } from '../patterns/semaphore.ts'
export { withTimeout } from '../patterns/timeout.ts'
export { MAX_TIMER_MS } from '../patterns/timers.ts'
export { topicAndAncestors, topicIndex } from '../patterns/topic-index.ts'
export { parseUrl } from '../patterns/url.ts'
