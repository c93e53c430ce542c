/** The interface of a benchmark, and the table that most benchmarks produce. */
import type { Measured, Spread } from './compare.ts'

/** A measurement, as text for people and as data for the results file. */
export interface Table {
  label: string
  /** The design's target, in words. */
  goal: string
  head: readonly string[]
  rows: readonly (readonly string[])[]
  data: unknown
}

/** A benchmark: a title and the tables that it measures. */
export interface Bench {
  title: string
  /**
   * @param options.scale Multiplies the number of rounds. Default: 1.
   * @param options.flags The options of the command line that only one benchmark has.
   */
  tables(options: { scale: number; flags: Readonly<Record<string, unknown>> }): Promise<Table[]>
}

/**
 * Creates a table that compares contenders to the floor. Its columns: wall time per call; its ratio to
 * the floor's in paired rounds, with minimum and maximum; CPU time per call and the same ratio of it;
 * the ratio of the undisturbed rounds; the floor's time as a percentage of the call's, by wall time and
 * by CPU time.
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

/** Prints a table: two text columns, then numbers. */
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
