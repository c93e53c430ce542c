/**
 * Announces log messages to screen readers, at most one announcement per period, so that many messages do not
 * drown everything else.
 *
 * @see https://www.w3.org/WAI/ARIA/apg/practices/landmark-regions/
 */
import type { Entry } from './entry.ts'
import { isAtLeast } from './levels.ts'

/** The period of an announcement, in milliseconds. */
const PERIOD_MS = 2000

/** Creates a function that announces entries, if they are log messages. */
export function logAnnouncer(announce: (text: string) => void): (entry: Entry) => void {
  let waiting: Entry[] = []
  let isWaiting = false

  function flush(): void {
    isWaiting = false
    const [first, ...others] = waiting
    waiting = []
    if (!first) return
    announce(
      others.length === 0 ? `Log, ${first.level}: ${first.title}` : summaryOf([first, ...others]),
    )
    isWaiting = true
    setTimeout(flush, PERIOD_MS)
  }
  return (entry) => {
    if (entry.kind !== 'log') return
    waiting.push(entry)
    if (isWaiting) return
    isWaiting = true
    // Messages that arrive together are announced together
    setTimeout(flush)
  }
}

function summaryOf(entries: readonly Entry[]): string {
  const severe = entries.filter(({ level }) => isAtLeast(level, 'warning')).length
  const count = `${entries.length} log messages`
  return severe === 0 ? count : `${count}, ${severe} of them warnings or errors`
}
