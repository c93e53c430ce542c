/**
 * Runs the benchmarks: `npm run bench [-- name… --scale 0.5]`; without names, those for the design's
 * targets. `capacity` has options of its own. Prints tables and writes `bench/results/<name>.json`.
 * Timings are informative and never make it fail.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { type Bench, print } from './bench.ts'
import { capacityFlags } from './capacity/load.ts'

const benches: Record<string, () => Promise<{ bench: Bench }>> = {
  'fetch-handler': () => import('./fetch-handler.ts'),
  'tools-list': () => import('./tools-list.ts'),
  workerd: () => import('./workerd.ts'),
  stdio: () => import('./stdio.ts'),
  'in-memory': () => import('./in-memory.ts'),
}

/** Run only when named. */
const others: typeof benches = {
  chromium: () => import('./chromium.ts'),
  playground: () => import('./playground.ts'),
  objects: () => import('./objects.ts'),
  idle: () => import('./idle.ts'),
  'many-idle': () => import('./many-idle.ts'),
  tasks: () => import('./tasks.ts'),
  streams: () => import('./streams.ts'),
  'many-tools': () => import('./many-tools.ts'),
  types: () => import('./types.ts'),
  'node-http': () => import('./node-http.ts'),
  'deno-http': async () => ({ bench: (await import('./runtime-http.ts')).runtimeHttp('deno') }),
  'bun-http': async () => ({ bench: (await import('./runtime-http.ts')).runtimeHttp('bun') }),
  'worker-start': () => import('./worker-start.ts'),
  memory: () => import('./memory.ts'),
  tokens: () => import('./tokens.ts'),
  bindings: () => import('./bindings.ts'),
  capacity: () => import('./capacity/index.ts'),
  postgres: () => import('./postgres.ts'),
  soak: () => import('./soak.ts'),
  events: () => import('./events.ts'),
  opentelemetry: () => import('./opentelemetry.ts'),
  peers: () => import('./peers.ts'),
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    scale: { type: 'string', default: '1' },
    ...Object.fromEntries(capacityFlags.map((flag) => [flag, { type: 'string' as const }])),
  },
})
const { scale, ...flags } = values
const results = new URL('./results/', import.meta.url)
mkdirSync(results, { recursive: true })
for (const name of positionals.length > 0 ? positionals : Object.keys(benches)) {
  const load = benches[name] ?? others[name]
  if (!load) {
    const known = Object.keys({ ...benches, ...others }).join(', ')
    throw new Error(`Unknown bench: "${name}"; known are ${known}`)
  }
  const { bench } = await load()
  console.log(`\n${bench.title}`)
  const started = Date.now()
  const tables = await bench.tables({ scale: Number(scale), flags })
  for (const table of tables) print(table)
  console.log(`  (${((Date.now() - started) / 1000).toFixed(0)} s)`)
  const report = { name, title: bench.title, node: process.version, cpu: cpus()[0]?.model, tables }
  writeFileSync(new URL(`${name}.json`, results), `${JSON.stringify(report, null, 2)}\n`)
}
