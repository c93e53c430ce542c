/** The tables of a plan. */
import type { Table } from '../bench.ts'
import { flagOf, LOAD_NAMES, total, usage, type Limit, type Load } from './load.ts'
import type { PostgresPlan } from './postgres.ts'
import type { WorkersPlan } from './workers.ts'

/** The load in the words of the command line. */
export function describeLoad(load: Load): string {
  return LOAD_NAMES.map((name) => `--${flagOf(name)} ${load[name]}`).join(' ')
}

/** What a load takes on Workers. */
export function workersTables(plan: WorkersPlan): Table[] {
  const { money } = plan
  return [
    table('Workers', 'planned', ['', 'of them'], plan, [
      ['hub objects (`hubShards`)', plan.hubs],
      ['session objects', plan.sessionObjects],
      ['streams of each hub', plan.streamsPerHub],
      ...partRows('requests to the Worker per second', plan.workerRequests),
      ...partRows('requests to objects per second', plan.objectRequests),
      ...partRows('rows written per second', plan.rowsWritten),
      ...partRows('rows read per second', plan.rowsRead),
      ['CPU of isolates, in cores', plan.isolateCpu],
      ['CPU of each hub, in cores', plan.hubCpu],
      ...partRows('dollars a month', money),
    ]),
    limitTable('Workers: what breaks first', plan.limits),
  ]
}

/** What a load takes of processes with Postgres. */
export function postgresTables(plan: PostgresPlan): Table[] {
  return [
    table('Postgres', 'planned', ['', 'of them'], plan, [
      ['processes', plan.processes],
      ['streams of each process', plan.streamsPerProcess],
      ['memory of all streams, in MB', plan.memoryMb],
      ['connections to the database', plan.connections],
      ...partRows('queries per second', plan.queries),
      ...partRows('rows written per second', plan.rowsWritten),
      ...partRows('rows read per second', plan.rowsRead),
      ...partRows('notifications sent per second', plan.notifications),
      ['notifications received per second', plan.notificationsReceived],
      ...partRows('CPU of all processes, in cores', plan.cpu),
      ['size of the sessions, in MB', plan.databaseMb],
    ]),
    limitTable('Postgres: what breaks first', plan.limits),
  ]
}

type Row = readonly [name: string, value: number, part?: boolean]

function partRows(name: string, all: Readonly<Record<string, number>>): Row[] {
  const each = Object.entries(all).map(([part, value]): Row => [part, value, true])
  return [[name, total(all)], ...each]
}

function table(
  label: string,
  goal: string,
  head: readonly string[],
  data: unknown,
  rows: readonly Row[],
): Table {
  const cells = rows.map(([name, value, isPart]) =>
    isPart ? [`  ${name}`, '', '', formatNumber(value)] : [name, '', formatNumber(value), ''],
  )
  return { label, goal, head: ['', ...head], rows: cells, data }
}

function limitTable(label: string, limits: readonly Limit[]): Table {
  const rows = limits.map((limit) => [
    limit.name,
    limit.setting,
    formatNumber(limit.needed),
    formatNumber(limit.available),
    `${formatNumber(usage(limit) * 100)} %`,
  ])
  return {
    label,
    goal: 'below 100 %',
    head: ['what moves it', 'need', 'limit', 'used'],
    rows,
    data: limits,
  }
}

/** A number with two or three significant digits, and thousands apart. */
export function formatNumber(value: number): string {
  if (value === 0) return '0'
  if (Math.abs(value) >= 1_000) return Math.round(value).toLocaleString('en-US')
  return String(Number(value.toPrecision(3)))
}
