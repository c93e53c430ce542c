/** Predictions of the model beside what was measured. */
import type { Table } from '../bench.ts'
import { formatNumber } from './print.ts'

/** One figure of the model. */
export interface Compared {
  readonly name: string
  /** What it is of, such as "each session" or "per second". */
  readonly per: string
  readonly predicted: number
  /** Undefined if this system does not show it. */
  readonly measured: number | undefined
}

/** What was measured with how many clients. */
export interface Checked {
  readonly clients: number
  /** How many of them have a session: fewer than planned, if they took too long to open. */
  readonly sessions: number
  readonly compared: Compared[]
}

/** A table of predictions, with the deviation of what was measured. */
export function comparisonTable(label: string, compared: readonly Compared[]): Table {
  return {
    label,
    goal: 'counts: 0 %; times and memory: within half',
    head: ['', 'predicted', 'measured', 'deviation'],
    rows: compared.map(({ name, per, predicted, measured }) => [
      name,
      per,
      formatNumber(predicted),
      measured === undefined ? '' : formatNumber(measured),
      measured === undefined || predicted === 0 ? '' : deviation(measured / predicted - 1),
    ]),
    data: compared,
  }
}

function deviation(share: number): string {
  const percent = Math.round(share * 100)
  return `${percent > 0 ? '+' : ''}${percent} %`
}

/** Does something `perSecond` times a second, for some seconds; returns how often. */
export async function pace(
  perSecond: number,
  seconds: number,
  action: (n: number) => Promise<unknown>,
): Promise<number> {
  const count = Math.round(perSecond * seconds)
  const startedAt = performance.now()
  const acts: Promise<unknown>[] = []
  for (let n = 0; n < count; n++) {
    await pause(startedAt + (n * 1_000) / perSecond - performance.now())
    acts.push(action(n))
  }
  await Promise.all(acts)
  return count
}

/** Repeats `step` until it was done `count` times, or `seconds` are over; returns how often it was. */
export async function repeatWithin(
  seconds: number,
  count: number,
  step: () => Promise<void>,
): Promise<number> {
  const deadline = performance.now() + seconds * 1_000
  let done = 0
  for (; done < count && performance.now() < deadline; done++) await step()
  return done
}

/** Waits for some milliseconds, if any. */
export async function pause(ms: number): Promise<void> {
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms))
}
