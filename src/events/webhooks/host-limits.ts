/**
 * Limits requests to each host, so that many subscriptions do not flood one receiver.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { semaphore } from '../../patterns/semaphore.ts'

/** Runs work for hosts. */
export interface HostLimits {
  /** Runs work when fewer than the maximum number run for the URL's host. */
  run<T>(url: string, work: () => Promise<T>): Promise<T>
  /** Whether work for the URL's host waits. */
  isBusy(url: string): boolean
}

/** Creates limits of `max` operations at once for each host. */
export function hostLimits(max: number): HostLimits {
  const hosts = new Map<string, { pending: number; limit: ReturnType<typeof semaphore> }>()
  return {
    async run(url, work) {
      const { host } = new URL(url)
      const entry = hosts.get(host) ?? { pending: 0, limit: semaphore(max) }
      hosts.set(host, entry)
      entry.pending++
      try {
        return await entry.limit(work)
      } finally {
        if (--entry.pending === 0) hosts.delete(host)
      }
    },
    isBusy: (url) => (hosts.get(new URL(url).host)?.pending ?? 0) > max,
  }
}
