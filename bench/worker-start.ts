/**
 * Cold start on workerd: a running workerd receives a Worker that it has not seen, and has to read its
 * module, evaluate it and answer one `tools/call`. A new isolate each time, as Cloudflare starts them.
 */
import { Miniflare } from 'miniflare'
import { type Bench, ratioTable } from './bench.ts'
import { buildForWorker } from './build.ts'
import { compare, type Contender } from './compare.ts'
import { children, costOf } from './cpu.ts'
import { template } from './requests.ts'
import { scenarios } from './scenarios.ts'
import type { Way } from './subject.ts'

const { method, params, answered } = scenarios.echo

/** A new Worker has no sessions, so the legacy rows are those that need none. */
const rows: [name: string, way: Way, note: string][] = [
  ['floor', 'modern', 'zod, and a bare handler'],
  ['edgewise', 'modern', 'createWorker'],
  ['edgewise', 'stateless', 'createHandler'],
  ['edgewise tiny', 'modern', 'createHandler, tiny'],
  ['official v2', 'modern', 'modern'],
  ['mcp-lite', 'stateless', 'stateless'],
  ['tmcp', 'modern', 'modern'],
]

/** The Worker that loads the others, under a new name each time. */
function host(modules: readonly string[]): string {
  return `
    const modules = ${JSON.stringify(modules)}
    let loaded = 0
    export default {
      fetch(request, env) {
        const row = Number(request.headers.get('x-row'))
        const worker = env.LOADER.get(String(loaded++), () => ({
          compatibilityDate: '2026-04-01',
          compatibilityFlags: ['nodejs_als'],
          mainModule: 'worker.js',
          modules: { 'worker.js': modules[row] },
          // Looked for at the start, and not used by a call of 2026-07-28
          env: { MCP_SESSION: { idFromString: 0 }, MCP_HUB: { idFromString: 0 } },
        }))
        return worker.getEntrypoint().fetch(request)
      },
    }`
}

export const bench: Bench = {
  title: 'Cold start on workerd: from an unknown Worker to its first answer',
  tables: async ({ scale }) => {
    const modules: string[] = []
    for (const [name, way] of rows) modules.push(await buildForWorker(name, way))
    const before = children()
    const miniflare = new Miniflare({
      modules: [{ type: 'ESModule', path: 'host.mjs', contents: host(modules) }],
      compatibilityDate: '2026-04-01',
      workerLoaders: { LOADER: {} },
      cf: false,
      port: 0,
    })
    const url = new URL('/mcp', await miniflare.ready).href
    const pid = [...children()].find((child) => !before.has(child))
    const contenders = rows.map(([name, way, note], row): Contender => {
      const legacy = { revision: '2025-06-18', sessionId: undefined }
      const { headers, body } = template(method, params, way === 'modern' ? undefined : legacy)
      return {
        name,
        note,
        round: () =>
          costOf(pid, async () => {
            const response = await fetch(url, {
              method: 'POST',
              headers: { ...headers, 'x-row': String(row) },
              body: body(1),
            })
            const text = await response.text()
            if (!answered(text)) throw new Error(`"${name}" answered ${text}`)
            return 1
          }),
        close: async () => {},
      }
    })
    try {
      const options = { generations: 1, rounds: Math.ceil(20 * scale) }
      const measured = await compare(async () => contenders, options)
      const sizes = modules.map((text) => (text.length / 1024).toFixed(0))
      const { head, rows: lines, ...table } = ratioTable('new isolate', 'ratio ≤ 2', measured)
      return [
        {
          ...table,
          head: [...head, 'KB'],
          rows: lines.map((line, row) => [...line, sizes[row] ?? '']),
        },
      ]
    } finally {
      await miniflare.dispose()
    }
  },
}
