/** Runs the Worker of the benches of Durable Objects on workerd. */
import { Miniflare } from 'miniflare'
import { buildAgent, buildWorker } from './build.ts'
import { children } from './cpu.ts'

/** A workerd that runs. */
export interface Running {
  at: (path: string) => string
  pid: number | undefined
  stop: () => Promise<void>
}

const SESSIONS = { MCP_SESSION: 'McpSession', MCP_HUB: 'McpHub', BARE: 'Bare' }

/** The objects of each Worker, by the binding. */
const workers: Record<string, Record<string, string>> = {
  'objects-worker.ts': { ...SESSIONS, BARE_HUB: 'BareHub' },
  'tasks-worker.ts': { ...SESSIONS, MCP_TASK: 'McpTask' },
  'mcp-agent/worker.js': { MCP_OBJECT: 'Agent' },
}

/** Starts workerd with a Worker of this folder. */
export async function start(worker = 'objects-worker.ts'): Promise<Running> {
  // The compiler is a child of this process too, so it must be there before workerd is.
  const agent = worker.startsWith('mcp-agent')
  const contents = agent ? buildAgent() : await buildWorker(worker)
  const before = children()
  const miniflare = new Miniflare({
    modules: [{ type: 'ESModule', path: 'worker.mjs', contents }],
    compatibilityDate: '2026-04-01',
    compatibilityFlags: agent ? ['nodejs_compat'] : [],
    durableObjects: Object.fromEntries(
      Object.entries(workers[worker] ?? {}).map(([binding, className]) => {
        return [binding, { className, useSQLite: true }]
      }),
    ),
    unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
    cf: false,
  })
  await miniflare.ready
  const url = await miniflare.unsafeGetDirectURL()
  return {
    at: (path) => new URL(path, url).href,
    pid: [...children()].find((child) => !before.has(child)),
    stop: () => miniflare.dispose(),
  }
}
