/** The shape of a bench. */
import type { Measured } from './compare.ts'

/** Rows measured against one floor. */
export interface Table {
  label: string
  /** From the design's numbers to reach, in words. */
  goal: string
  rows: Measured[]
}

/** One bench: a title and the tables it measures. */
export interface Bench {
  title: string
  /** @param options.scale multiplies the number of rounds; 1 is the default */
  tables(options: { scale: number }): Promise<Table[]>
}
