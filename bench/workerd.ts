/** `tools/call` of one echo tool on workerd, under load from autocannon. */
import { Miniflare } from 'miniflare'
import { type Bench, ratioTable } from './bench.ts'
import { buildForWorker } from './build.ts'
import { compare, type Contender, type Cost, type Measured } from './compare.ts'
import { children } from './cpu.ts'
import { costOfCalls } from './load.ts'
import { servers } from './fetch.ts'
import { handshake, template } from './requests.ts'
import { scenarios } from './scenarios.ts'
import type { Way } from './subject.ts'
import type { SubjectName } from './subjects/index.ts'

const { method, params, answered } = scenarios.echo
const REQUESTS = 500

async function load(
  url: string,
  way: Way,
  name: string,
  pid: number | undefined,
): Promise<() => Promise<Cost>> {
  const legacy = way === 'modern' ? undefined : await handshake((request) => fetch(request), url)
  const call = template(method, params, legacy)
  const { headers, body } = call
  const first = await fetch(url, { method: 'POST', headers, body: body(1) })
  const answer = await first.text()
  if (!answered(answer)) throw new Error(`"${name}" answered ${answer}`)
  return () => costOfCalls(name, pid, url, call, REQUESTS)
}

async function open(name: SubjectName, way: Way): Promise<Contender> {
  const contents = await buildForWorker(name, way)
  const before = children()
  const miniflare = new Miniflare({
    modules: [{ type: 'ESModule', path: 'worker.mjs', contents }],
    compatibilityDate: '2026-04-01',
    compatibilityFlags: name === 'tmcp' ? ['nodejs_als'] : [],
    ...(name === 'edgewise' &&
      way === 'session' && {
        durableObjects: {
          MCP_SESSION: { className: 'McpSession', useSQLite: true },
          MCP_HUB: { className: 'McpHub', useSQLite: true },
        },
      }),
    cf: false,
    port: 0,
  })
  const url = new URL('/mcp', await miniflare.ready).href
  const pid = [...children()].find((child) => !before.has(child))
  const round = await load(url, way, name, pid)
  for (let warm = 0; warm < 4; warm++) await round()
  const note = name === 'edgewise' && way === 'session' ? 'session (Durable Object)' : way
  return { name, note, round, close: () => miniflare.dispose() }
}

async function measure(ways: readonly Way[], rounds: number): Promise<Measured[]> {
  const rows = await servers(ways)
  return compare(
    async () => {
      const contenders: Contender[] = []
      for (const [name, way] of rows) contenders.push(await open(name, way))
      return contenders
    },
    { generations: 1, rounds },
  )
}

export const bench: Bench = {
  title: 'tools/call on workerd (time per request under load; share is of the floor’s requests/s)',
  tables: async ({ scale }) => {
    const rounds = Math.ceil(8 * scale)
    return [
      ratioTable('legacy', 'share ≥ 92 %', await measure(['stateless', 'session'], rounds)),
      ratioTable('modern', 'share ≥ 92 %', await measure(['modern'], rounds)),
    ]
  },
}
