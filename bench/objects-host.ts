/** Runs the Worker of the benches of Durable Objects on workerd. */
import { Miniflare } from 'miniflare'
import { buildWorker } from './build.ts'
import { children } from './cpu.ts'

/** A workerd that runs. */
export interface Running {
  at: (path: string) => string
  pid: number | undefined
  stop: () => Promise<void>
}

/** Starts workerd with a Worker of this folder. */
export async function start(worker = 'objects-worker.ts'): Promise<Running> {
  // The compiler is a child of this process too, so it must be there before workerd is.
  const contents = await buildWorker(worker)
  const before = children()
  const miniflare = new Miniflare({
    modules: [{ type: 'ESModule', path: 'worker.mjs', contents }],
    compatibilityDate: '2026-04-01',
    durableObjects: {
      MCP_SESSION: { className: 'McpSession', useSQLite: true },
      MCP_HUB: { className: 'McpHub', useSQLite: true },
      BARE: { className: 'Bare', useSQLite: true },
      ...(worker === 'tasks-worker.ts'
        ? { MCP_TASK: { className: 'McpTask', useSQLite: true } }
        : { BARE_HUB: { className: 'BareHub', useSQLite: true } }),
    },
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
