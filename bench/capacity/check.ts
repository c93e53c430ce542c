/** Compares the model's predictions for a hundredth of the million with what this machine measures. */
import type { Table } from '../bench.ts'
import { checkPostgres } from './check-postgres.ts'
import { checkWorkers } from './check-workers.ts'
import { MILLION, type Load } from './load.ts'
import { comparisonTable, type Checked } from './measured.ts'
import { formatNumber } from './print.ts'

/** What shows only in the cloud, after hours, or at full scale. */
const NOT_MEASURED = [
  ['prices, duration and CPU as Cloudflare bills them', 'only their counts are measured here'],
  ['renewed alarms, deleted changes, reconnecting clients', 'they take an hour, or 10,000 changes'],
  ['limits of the platform, and of a database with disks', 'from documentation, or assumed'],
  [
    'the cost of calls and changes at full rate',
    'code and caches are warmer then: a call costs less',
  ],
] as const

/**
 * Measures both platforms; `scale` 1 is 10,000 clients, 100 calls and 10 changes per second. On a busy
 * machine fewer of the clients have a session, as opening one takes more time than a listener.
 */
export async function check(scale: number): Promise<Table[]> {
  const clients = Math.max(400, Math.round((MILLION.clients / 100) * scale))
  const load: Load = {
    ...MILLION,
    clients,
    calls: MILLION.calls / 100,
    changes: MILLION.changes / 100,
  }
  const workers = await checkWorkers(load)
  const postgres = await checkPostgres(load)
  return [
    comparisonTable(`Workers, ${clientsOf(workers)}`, workers.compared),
    comparisonTable(`Postgres, ${clientsOf(postgres)}`, postgres.compared),
    {
      label: 'not measured here',
      goal: 'none',
      head: [''],
      rows: NOT_MEASURED,
      data: NOT_MEASURED,
    },
  ]
}

function clientsOf({ clients, sessions }: Checked): string {
  return `${formatNumber(clients)} clients, ${formatNumber(sessions)} sessions`
}
