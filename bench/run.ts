/**
 * Runs the benches: `npm run bench [name…] [-- --scale 0.5]`. Prints a table for each and writes
 * `bench/results/<name>.json`. Timings inform; they never fail.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import type { Bench, Table } from './bench.ts'
import type { Spread } from './compare.ts'

const benches: Record<string, () => Promise<{ bench: Bench }>> = {
  'fetch-handler': () => import('./fetch-handler.ts'),
  'tools-list': () => import('./tools-list.ts'),
  streams: () => import('./streams.ts'),
  workerd: () => import('./workerd.ts'),
  objects: () => import('./objects.ts'),
  stdio: () => import('./stdio.ts'),
  'in-memory': () => import('./in-memory.ts'),
}

const digits = (value: number): string => (value < 100 ? value.toFixed(2) : value.toFixed(0))
const range = ({ min, max }: Spread): string => `${digits(min)}–${digits(max)}`

function print({ label, goal, rows }: Table): void {
  const lines = rows.map(({ name, note, wallUs, ratio, cpuRatio, calmRatio }) => [
    name,
    note,
    digits(wallUs.median),
    digits(ratio.median),
    range(ratio),
    cpuRatio ? digits(cpuRatio.median) : '',
    digits(calmRatio),
    `${(100 / ratio.median).toFixed(0)} %`,
  ])
  const head = [label, 'set-up', 'µs', 'ratio', 'min–max', 'by cpu', 'calm', 'share']
  const widths = head.map((cell, column) =>
    Math.max(cell.length, ...lines.map((line) => line[column]?.length ?? 0)),
  )
  const show = (cells: string[]): string =>
    cells
      .map((cell, column) =>
        column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
  console.log(`  ${show(head)}   goal: ${goal}`)
  for (const line of lines) console.log(`  ${show(line)}`)
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { scale: { type: 'string', default: '1' } },
})
const results = new URL('./results/', import.meta.url)
mkdirSync(results, { recursive: true })
for (const name of positionals.length > 0 ? positionals : Object.keys(benches)) {
  const load = benches[name]
  if (!load)
    throw new Error(`Unknown bench: "${name}"; known are ${Object.keys(benches).join(', ')}`)
  const { bench } = await load()
  console.log(`\n${bench.title}`)
  const started = Date.now()
  const tables = await bench.tables({ scale: Number(values.scale) })
  for (const table of tables) print(table)
  console.log(`  (${((Date.now() - started) / 1000).toFixed(0)} s)`)
  const report = { name, title: bench.title, node: process.version, cpu: cpus()[0]?.model, tables }
  writeFileSync(new URL(`${name}.json`, results), `${JSON.stringify(report, null, 2)}\n`)
}
