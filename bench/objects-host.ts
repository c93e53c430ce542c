/** Runs the Worker of the Durable Object benchmarks on workerd. */
import { Miniflare, type WorkerOptions } from 'miniflare'
import { buildAgent, buildWorker } from './build.ts'
import { children } from './cpu.ts'

/** A running workerd. */
export interface Running {
  urlOf: (path: string) => string
  pid: number | undefined
  stop: () => Promise<void>
}

/** A running workerd that also contains the Worker of the clients. */
export interface RunningWithClients extends Running {
  /** The URL of a command to the clients. */
  clients: (path: string) => string
}

const SESSIONS = { MCP_SESSION: 'McpSession', MCP_HUB: 'McpHub', BARE: 'Bare' }

/** The Durable Objects of each Worker, by binding. */
const workers: Record<string, Record<string, string>> = {
  'objects-worker.ts': { ...SESSIONS, BARE_HUB: 'BareHub' },
  'tasks-worker.ts': { ...SESSIONS, MCP_TASK: 'McpTask' },
  'capacity/worker.ts': { MCP_SESSION: 'McpSession', MCP_HUB: 'McpHub' },
  'mcp-agent/worker.js': { MCP_OBJECT: 'Agent' },
}

async function servedWorker(worker: string): Promise<WorkerOptions> {
  const agent = worker.startsWith('mcp-agent')
  const contents = agent ? buildAgent() : await buildWorker(worker)
  return {
    name: 'served',
    ...module(contents),
    compatibilityFlags: agent ? ['nodejs_compat'] : [],
    durableObjects: Object.fromEntries(
      Object.entries(workers[worker] ?? {}).map(([binding, className]) => {
        return [binding, { className, useSQLite: true }]
      }),
    ),
  }
}

async function clientsWorker(file: string): Promise<WorkerOptions> {
  return {
    name: 'clients',
    ...module(await buildWorker(file)),
    serviceBindings: { SERVED: 'served' },
    durableObjects: { CLIENTS: { className: 'Clients', unsafePreventEviction: true } },
  }
}

function module(contents: string) {
  return {
    modules: [{ type: 'ESModule' as const, path: 'worker.mjs', contents }],
    compatibilityDate: '2026-04-01',
    unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
  }
}

async function startMiniflare(options: WorkerOptions[]) {
  // Compilers are children of this process too, so they must start before workerd does.
  const before = children()
  const miniflare = new Miniflare({ workers: options, cf: false })
  await miniflare.ready
  const url = await miniflare.unsafeGetDirectURL('served')
  const running: Running = {
    urlOf: (path) => new URL(path, url).href,
    pid: [...children()].find((child) => !before.has(child)),
    stop: () => miniflare.dispose(),
  }
  return { miniflare, running }
}

/** Starts workerd with a Worker of this folder. */
export async function start(worker = 'objects-worker.ts'): Promise<Running> {
  return (await startMiniflare([await servedWorker(worker)])).running
}

/** Starts workerd with a Worker of this folder and the Worker of its clients. */
export async function startWithClients(
  worker = 'objects-worker.ts',
  clientsFile = 'idle-clients.ts',
): Promise<RunningWithClients> {
  const options = [await servedWorker(worker), await clientsWorker(clientsFile)]
  const { miniflare, running } = await startMiniflare(options)
  const url = await miniflare.unsafeGetDirectURL('clients')
  return { ...running, clients: (path) => new URL(path, url).href }
}
