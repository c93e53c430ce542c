/**
 * Limits listening streams. Over HTTP/1.1, a browser has six connections to a server, for all tabs
 * together. Six open streams would block every other request in every tab.
 *
 * @see https://www.w3.org/TR/web-locks/
 */
import { acquireSlot } from './slot-channel.ts'

/** The maximum number of open streams of an origin's pages to one server. */
const MAX_STREAMS = 4

/**
 * Takes one of the slots for open streams. Waits for a free one until the signal aborts.
 *
 * @param onWait Called with `true` when the wait starts and with `false` when it ends. Not called if a
 *   slot is free.
 * @returns A function that frees the slot; `undefined` if no slot was taken.
 */
export async function acquireStreamSlot(
  url: string,
  signal: AbortSignal,
  onWait?: (isWaiting: boolean) => void,
): Promise<(() => void) | undefined> {
  const { origin } = new URL(url)
  if (!navigator.locks) return acquireSlot(`edgewise ${origin}`, MAX_STREAMS, signal, onWait)
  const slotTaken = new AbortController()
  const waitSignal = AbortSignal.any([signal, slotTaken.signal])
  const acquired = new Promise<(() => void) | undefined>((resolve) => {
    const hold = (): Promise<void> | undefined => {
      if (waitSignal.aborted) return undefined
      slotTaken.abort()
      return new Promise((release) => resolve(release))
    }
    for (let slot = 0; slot < MAX_STREAMS; slot++) {
      const name = `edgewise ${origin} ${slot}`
      // Rejects when the wait ends, which changes nothing once a slot is taken. Also rejects without
      // permission to use locks: then the limit is not enforced
      navigator.locks.request(name, { signal: waitSignal }, hold).catch(() => resolve(undefined))
    }
  })
  if (!onWait) return acquired
  // By now the browser has granted any free lock, which ended the wait
  await navigator.locks.query().catch(() => {})
  if (waitSignal.aborted) return acquired
  onWait(true)
  return acquired.finally(() => onWait(false))
}
