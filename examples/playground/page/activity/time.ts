/**
 * Times and durations as people read them.
 *
 * @see https://developer.mozilla.org/docs/Web/HTML/Reference/Elements/time
 */
import { el } from '../dom.ts'

const FORMAT = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
})

/** The time of day, to the millisecond. */
export function timeOf(at: Date): HTMLElement {
  return el('time', { datetime: at.toISOString() }, FORMAT.format(at))
}

/** Milliseconds, as seconds when there are many. */
export function duration(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`
}
