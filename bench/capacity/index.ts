/**
 * The capacity model, for Workers and for processes with Postgres: a plan for the load that options
 * give, or the predictions for a hundredth of the million clients beside what this machine measures.
 */
import type { Bench } from '../bench.ts'
import { readLoad } from './load.ts'
import { planPostgres } from './postgres.ts'
import { describeLoad, postgresTables, workersTables } from './print.ts'
import { planWorkers } from './workers.ts'

export const bench: Bench = {
  title: 'Capacity',
  tables: async ({ scale, flags }) => {
    if (Object.keys(flags).length > 0) {
      const load = readLoad(flags)
      console.log(`  ${describeLoad(load)}`)
      return [...workersTables(planWorkers(load)), ...postgresTables(planPostgres(load))]
    }
    const { check } = await import('./check.ts')
    return check(scale)
  },
}
