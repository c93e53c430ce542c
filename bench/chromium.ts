/** `tools/call` from a page in Chromium to a Worker, compared to a bare `fetch` and `JSON.parse`. */
import { build } from 'esbuild'
import { Miniflare } from 'miniflare'
import type { CDPSession, Page } from 'playwright-core'
import { launchChromium } from '../test/runtimes/chromium.ts'
import { type Bench, ratioTable, type Table } from './bench.ts'
import { buildForWorker, source } from './build.ts'
import { compare, type Contender, type Cost } from './compare.ts'
import type { Era, Throughput } from './pages/throughput.ts'

/** Exists only inside the page. */
declare const throughput: Throughput

/** The number of calls per turn. */
const CALLS = 120
const names = ['floor', 'edgewise', 'edgewise/browser', 'official v2']

/** A Worker that also serves the page, so that its requests are same-origin. */
const entry = `
  import worker from './worker.mjs'
  import script from './page.txt'
  export * from './worker.mjs'
  const page = '<!doctype html><script type="module" src="/page.js"></script>'
  export default {
    fetch(request, env, ctx) {
      const { pathname } = new URL(request.url)
      if (pathname === '/page') return new Response(page, { headers: { 'content-type': 'text/html' } })
      if (pathname !== '/page.js') return worker.fetch(request, env, ctx)
      return new Response(script, { headers: { 'content-type': 'text/javascript' } })
    },
  }`

async function buildPage(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [source('pages/throughput.ts')],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    conditions: ['browser'],
  })
  return outputFiles[0]?.text ?? ''
}

/** The CPU time of the page's own thread, in microseconds. */
async function threadUs(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics')
  return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0) * 1e6
}

async function open(
  page: Page,
  session: CDPSession,
  era: Era,
  concurrent: number,
): Promise<Contender[]> {
  const contenders: Contender[] = []
  for (const name of names) {
    const number = await page.evaluate(([name, era]) => throughput.open(name, era), [
      name,
      era,
    ] as const)
    const round = async (): Promise<Cost> => {
      const before = await threadUs(session)
      const ms = await page.evaluate(
        ([number, calls, concurrent]) => throughput.round(number, calls, concurrent),
        [number, CALLS, concurrent] as const,
      )
      const cpuUs = ((await threadUs(session)) - before) / CALLS
      return { wallUs: (ms * 1000) / CALLS, cpuUs }
    }
    await round()
    contenders.push({ name, note: `${concurrent} at once`, round, close: () => Promise.resolve() })
  }
  return contenders
}

export const bench: Bench = {
  title:
    'tools/call in Chromium (time per call, cpu of the page’s thread; share is of a bare fetch and JSON.parse)',
  tables: async ({ scale }) => {
    const [worker, script, browser] = await Promise.all([
      buildForWorker('edgewise', 'session'),
      buildPage(),
      launchChromium(),
    ])
    const miniflare = new Miniflare({
      modules: [
        { type: 'ESModule', path: 'main.mjs', contents: entry },
        { type: 'ESModule', path: 'worker.mjs', contents: worker },
        { type: 'Text', path: 'page.txt', contents: script },
      ],
      compatibilityDate: '2026-04-01',
      durableObjects: {
        MCP_SESSION: { className: 'McpSession', useSQLite: true },
        MCP_HUB: { className: 'McpHub', useSQLite: true },
      },
      cf: false,
      port: 0,
    })
    try {
      const url = new URL('/page', await miniflare.ready).href
      const rounds = Math.ceil(20 * scale)
      const tables: Table[] = []
      for (const era of ['modern', 'legacy'] as const) {
        for (const concurrent of [1, 6]) {
          // A separate page: streams of earlier clients would use some of the six connections that the
          // browser allows per server
          const page = await browser.newPage()
          await page.goto(url)
          await page.waitForFunction('typeof throughput === "object"')
          const session = await page.context().newCDPSession(page)
          await session.send('Performance.enable', { timeDomain: 'threadTicks' })
          const measured = await compare(() => open(page, session, era, concurrent), {
            generations: 1,
            rounds,
          })
          await page.close()
          tables.push(ratioTable(`${era}, ${concurrent} at once`, 'share ≥ 90 %', measured))
        }
      }
      return tables
    } finally {
      await browser.close()
      await miniflare.dispose()
    }
  },
}
