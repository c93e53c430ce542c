/**
 * Limits requests to each host, so that many subscriptions do not flood one receiver, and a receiver
 * that never answers does not keep the process from delivering to other receivers.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { boundedCache } from '../../patterns/bounded-cache.ts'
import { semaphore } from '../../patterns/semaphore.ts'
import type { Answer } from './request.ts'

/** The number of hosts that are remembered. */
const MAX_HOSTS = 10_000

interface Host {
  readonly limit: ReturnType<typeof semaphore>
  /** How many requests wait or are under way. */
  pending: number
  /** How many requests in succession it did not answer. */
  unanswered: number
}

/** Sends requests to hosts. */
export interface HostLimits {
  /**
   * Sends a request when fewer than the maximum number are under way to the URL's host. Resolves with
   * undefined if it would have to wait for a host that no longer answers.
   */
  run(url: string, send: () => Promise<Answer | undefined>): Promise<Answer | undefined>
  /** Whether requests to the URL's host wait. */
  isBusy(url: string): boolean
}

/** Creates limits of `max` requests at once for each host. */
export function hostLimits(max: number): HostLimits {
  const hosts = boundedCache<string, Host>(MAX_HOSTS)

  return {
    async run(url, send) {
      const host = hostOf(url)
      const waits = host.pending >= max
      const isHopeless = (): boolean => waits && host.unanswered >= max
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
