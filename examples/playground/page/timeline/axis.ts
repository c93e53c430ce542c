/**
 * The axis of the timeline: a horizontal position for each time. Times without any activity are shortened, so that
 * short requests stay visible next to long pauses.
 */

import { duration } from '../time.ts'

/** A period of activity, in milliseconds since 1970. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** Maps times to positions. */
export interface Axis {
  /** The length of the axis without shortened pauses, in milliseconds. */
  readonly activeMs: number
  /** The positions of shortened pauses. */
  readonly pauses: readonly Span[]
  /** Returns the position of a time, from 0 to 1. */
  position(at: number): number
}

/** Creates the axis on which the given periods are visible. All pauses together take at most a third of it. */
export function createAxis(spans: readonly Span[]): Axis {
  const periods = merge(spans)
  const busyMs = periods.reduce((sum, period) => sum + period.end - period.start, 0)
  const maxPause = busyMs === 0 ? Infinity : busyMs / (2 * Math.max(1, periods.length - 1))
  /** The start of each period, in milliseconds from the start of the axis. */
  const offsets: number[] = []
  const pauses: Span[] = []
  let total = 0
  for (const [index, period] of periods.entries()) {
    const pause = index === 0 ? 0 : period.start - (periods[index - 1]?.end ?? 0)
    const shown = Math.min(pause, maxPause)
    if (shown < pause) pauses.push({ start: total, end: total + shown })
    total += shown
    offsets.push(total)
    total += period.end - period.start
  }

  function position(at: number): number {
    if (total === 0) return 0
    const index = periods.findLastIndex((period) => period.start <= at)
    const period = periods[index]
    if (!period) return 0
    const offset = (offsets[index] ?? 0) + Math.min(at, period.end) - period.start
    // Within a pause, as far as its shortened length
    const next = offsets[index + 1] ?? total
    return Math.min(offset + Math.max(0, at - period.end), next) / total
  }

  const scale = (at: number): number => (total === 0 ? 0 : at / total)
  return {
    activeMs: pauses.reduce((rest, pause) => rest - (pause.end - pause.start), total),
    pauses: pauses.map((pause) => ({ start: scale(pause.start), end: scale(pause.end) })),
    position,
  }
}

/** Describes the length of an axis, as shortened pauses have another scale. */
export function lengthOf({ activeMs, pauses: { length } }: Axis): string {
  if (length === 0) return duration(activeMs)
  return `${duration(activeMs)} + ${length === 1 ? 'a pause' : `${length} pauses`}`
}

/** Returns the background of a bar's track, as CSS: a color, with a gap for each shortened pause. */
export function trackBackground({ pauses }: Axis, color: string): string {
  const percent = (position: number): string => `${(position * 100).toFixed(2)}%`
  const stops = pauses.flatMap(({ start, end }) => [
    `${color} 0 ${percent(start)}`,
    `transparent 0 ${percent(end)}`,
  ])
  return `linear-gradient(90deg, ${[...stops, `${color} 0 100%`].join(', ')})`
}

/** Merges periods that overlap. */
function merge(spans: readonly Span[]): Span[] {
  const merged: Span[] = []
  for (const span of spans.toSorted((one, other) => one.start - other.start)) {
    const last = merged.at(-1)
    if (last && span.start <= last.end) {
      merged[merged.length - 1] = { start: last.start, end: Math.max(last.end, span.end) }
    } else merged.push(span)
  }
  return merged
}
