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
 * floor's in paired rounds, with the extremes; the same ratio of processor time; the ratio of the
 * rounds that nothing disturbed; and the floor's calls that fit into the time of one call.
 */
export function ratioTable(label: string, goal: string, measured: readonly Measured[]): Table {
  return {
    label,
    goal,
    head: ['set-up', 'µs', 'ratio', 'min–max', 'by cpu', 'calm', 'share'],
    rows: measured.map(({ name, note, wallUs, ratio, cpuRatio, calmRatio }) => [
      name,
      note,
      digits(wallUs.median),
      digits(ratio.median),
      range(ratio),
      cpuRatio ? digits(cpuRatio.median) : '',
      digits(calmRatio),
      `${(100 / ratio.median).toFixed(0)} %`,
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
const range = ({ min, max }: Spread): string => `${digits(min)}–${digits(max)}`
