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

/** Formats a duration in milliseconds, seconds, or minutes and seconds. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

/** Replaces the name of the client's option in the message of a timeout by the time in seconds. */
export function plainTimeout(message: string): string {
  return message.replace(
    /: "(?:t|maxT)imeoutMs" is (\d+)$/,
    (_, ms: string) => ` after ${Number(ms) / 1000} s`,
  )
}
