/** The shape of a bench, and the table that most of them make. */
import type { Measured, Spread } from './compare.ts'

/** What was measured, as text for people and as data for the results file. */
export interface Table {
  label: string
  /** From the design's numbers to reach, in words. */
  goal: string
  head: readonly string[]
  rows: readonly (readonly string[])[]
  data: unknown
}

/** One bench: a title and the tables it measures. */
export interface Bench {
  title: string
  /** @param options.scale multiplies the number of rounds; 1 is the default */
  tables(options: { scale: number }): Promise<Table[]>
}

/**
 * A table of contenders beside the floor. The columns: clock time of one call; its ratio to the
 * floor's in paired rounds, with the extremes; processor time of one call, and the same ratio of it;
 * the ratio of the rounds that nothing disturbed; the floor's time in percent of a call's, by the
 * clock and by processor time.
 */
export function ratioTable(label: string, goal: string, measured: readonly Measured[]): Table {
  return {
    label,
    goal,
    head: ['set-up', 'µs', 'ratio', 'min–max', 'cpu µs', 'by cpu', 'calm', 'share', 'cpu share'],
    rows: measured.map(({ name, note, wallUs, ratio, cpuUs, cpuRatio, calmRatio }) => [
      name,
      note,
      digits(wallUs.median),
      digits(ratio.median),
      range(ratio),
      cpuUs ? digits(cpuUs.median) : '',
      cpuRatio ? digits(cpuRatio.median) : '',
      digits(calmRatio),
      share(ratio),
      cpuRatio ? share(cpuRatio) : '',
    ]),
    data: measured,
  }
}

/** Prints a table: two columns of words, then numbers. */
export function print({ label, goal, head, rows }: Table): void {
  const lines = [[label, ...head], ...rows]
  const widths = lines[0]?.map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  )
  for (const [index, line] of lines.entries()) {
    const cells = line.map((cell, column) => {
      const width = widths?.[column] ?? 0
      return column < 2 ? cell.padEnd(width) : cell.padStart(width)
    })
    console.log(`  ${cells.join('  ')}${index === 0 ? `   goal: ${goal}` : ''}`)
  }
}

const digits = (value: number): string => (value < 100 ? value.toFixed(2) : value.toFixed(0))
const share = ({ median }: Spread): string => `${(100 / median).toFixed(0)} %`
const range = ({ min, max }: Spread): string => `${digits(min)}–${digits(max)}`
