/**
 * Formats times and durations for people.
 *
 * @see https://developer.mozilla.org/docs/Web/HTML/Reference/Elements/time
 */
import { el } from './dom.ts'

/** The time of day, to the millisecond. */
export function timeOf(at: Date): HTMLElement {
  const ms = `${at.getMilliseconds()}`.padStart(3, '0')
  return el('time', { datetime: at.toISOString() }, `${at.toTimeString().slice(0, 8)}.${ms}`)
}

/** Formats a duration in milliseconds, or in seconds if it is long. */
export function duration(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`
}
