/**
 * Limits the concurrent requests to each host, so that many subscriptions do not flood one receiver. A receiver
 * that does not respond must not prevent deliveries to others.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { boundedCache } from '../../patterns/bounded-cache.ts'
import { semaphore } from '../../patterns/semaphore.ts'
import type { Answer } from './request.ts'

/** The maximum number of hosts that are remembered. */
const MAX_HOSTS = 10_000

/** The requests to one host. */
interface Host {
  /** Runs a limited number of requests at once. */
  readonly limit: ReturnType<typeof semaphore>
  /** The number of requests that wait or are under way. */
  pending: number
  /** The number of consecutive requests without a response. */
  unanswered: number
}

/** Sends requests to hosts. */
export interface HostLimits {
  /**
   * Sends a request to the URL's host, as soon as fewer requests than the maximum are under way there. Resolves
   * with undefined if the request would have to wait, and the host no longer responds.
   */
  run(url: string, send: () => Promise<Answer | undefined>): Promise<Answer | undefined>
  /** Whether requests to the URL's host have to wait. */
  isBusy(url: string): boolean
}

/** Creates limits of `max` requests at once for each host. */
export function hostLimits(max: number): HostLimits {
  const hosts = boundedCache<string, Host>(MAX_HOSTS)

  return {
    async run(url, send) {
      const host = hostOf(url)
      const mustWait = host.pending >= max
      // Waiting is hopeless after `max` consecutive requests without a response
      const isHopeless = (): boolean => mustWait && host.unanswered >= max
      if (isHopeless()) return undefined
      host.pending++
      try {
        return await host.limit(async () => {
          if (isHopeless()) return undefined
          const answer = await send()
          if (answer) host.unanswered = answer.status === undefined ? host.unanswered + 1 : 0
          return answer
        })
      } finally {
        host.pending--
      }
    },
    isBusy: (url) => hostOf(url).pending > max,
  }

  function hostOf(url: string): Host {
    const name = new URL(url).host
    const host = hosts.get(name) ?? { limit: semaphore(max), pending: 0, unanswered: 0 }
    hosts.set(name, host)
    return host
  }
}
