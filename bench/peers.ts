/**
 * The figures of docs/comparison and its pages: what each SDK installs, what a server and a client add to
 * a bundle, and how a server answers. All are counts, so a busy machine does not change them.
 */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { probes } from '../test/peers/probes.ts'
import { revisionSupport } from '../test/peers/revision-support.ts'
import { probedServers, type StartedServer } from '../test/peers/servers/probed.ts'
import manifest from '../package.json' with { type: 'json' }
import { revisions } from '../src/index.ts'
import type { Bench, Table } from './bench.ts'
import { startFastMcp } from './fastmcp/start.ts'
import { measureBundle, measureInstalled, type Installed } from './footprint.ts'
import { installPeer } from './installed-peer.ts'
import { start } from './objects-host.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/** An SDK that is measured. */
interface Peer {
  /** The packages of a server over HTTP, with zod. */
  readonly packages: readonly string[]
  /** Where they are installed, if they are apart from the package's own dependencies. */
  readonly folder?: string
  /** The code that imports what a server needs. */
  readonly server: string
  /** The code that imports what a client needs. */
  readonly client?: string
  readonly start?: () => Promise<StartedServer>
}

const peers: Readonly<Record<string, Peer>> = {
  Edgewise: {
    packages: ['edgewise'],
    server: `export { createServer, createHandler, statefulSessions } from 'edgewise/server'`,
    client: `export { connect } from 'edgewise/client'`,
  },
  'official SDK v1': {
    packages: ['@modelcontextprotocol/sdk'],
    server: `export { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
export { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'`,
    client: `export { Client } from '@modelcontextprotocol/sdk/client/index.js'
export { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'`,
  },
  'official SDK v2': {
    packages: ['@modelcontextprotocol/server', '@modelcontextprotocol/client'],
    server: `export { McpServer, createMcpHandler, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'`,
    client: `export { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'`,
  },
  agents: {
    packages: ['agents', '@modelcontextprotocol/sdk'],
    folder: 'mcp-agent',
    server: `export { McpAgent } from 'agents/mcp'
export { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'`,
    start: startAgent,
  },
  'mcp-lite': {
    packages: ['mcp-lite'],
    server: `export { McpServer, StreamableHttpTransport, InMemorySessionAdapter, InMemoryClientRequestAdapter } from 'mcp-lite'`,
  },
  tmcp: {
    packages: ['tmcp', '@tmcp/adapter-zod', '@tmcp/transport-http'],
    server: `export { McpServer } from 'tmcp'
export { HttpTransport } from '@tmcp/transport-http'
export { ZodJsonSchemaAdapter } from '@tmcp/adapter-zod'`,
  },
  FastMCP: {
    packages: ['fastmcp'],
    folder: 'fastmcp',
    server: `export { FastMCP } from 'fastmcp'`,
    start: startFastMcp,
  },
}

export const bench: Bench = {
  title: 'What other SDKs install, bundle and answer',
  tables: async () => {
    const names = Object.keys(peers)
    const footprints = new Map<string, readonly string[]>()
    for (const name of names) footprints.set(name, await measureFootprint(name))
    const answers = new Map<string, readonly string[]>()
    for (const name of names) answers.set(name, await measureAnswers(name))
    return [
      tableOf('size', ['packages', 'MB installed', 'KB of a server', 'KB of a client'], footprints),
      tableOf(
        'sent',
        [...revisions.map(({ version }) => version), ...Object.keys(probes)],
        answers,
      ),
    ]
  },
}

/** A table with a row for each measurement and a column for each SDK. */
function tableOf(
  label: string,
  measurements: readonly string[],
  columns: ReadonlyMap<string, readonly string[]>,
): Table {
  const rows = measurements.map((measurement, at) => [
    measurement,
    ...[...columns.values()].map((column) => column[at] ?? ''),
  ])
  return { label, goal: 'none', head: [...columns.keys()], rows, data: rows }
}

async function measureFootprint(name: string): Promise<string[]> {
  const { packages, folder: own, server, client } = peers[name]!
  const folder = own === undefined ? root : installPeer(own)
  const installed = name === 'Edgewise' ? measureOwn() : measureInstalled(packages, folder)
  const kb = async (code: string | undefined): Promise<string> =>
    code === undefined ? '' : ((await measureBundle(code, folder)) / 1024).toFixed(1)
  return [
    String(installed.packages),
    (installed.bytes / 1e6).toFixed(1),
    await kb(server),
    await kb(client),
  ]
}

/** Measures this package as it would be published. */
function measureOwn(): Installed {
  const pack = ['pack', '--dry-run', '--json', '--ignore-scripts']
  const [packed] = JSON.parse(execFileSync('npm', pack, { cwd: root, encoding: 'utf8' })) as [
    { unpackedSize: number },
  ]
  const { packages, bytes } = measureInstalled(Object.keys(manifest.dependencies), root)
  return { packages: packages + 1, bytes: bytes + packed.unpackedSize }
}

async function measureAnswers(name: string): Promise<string[]> {
  const begin = peers[name]!.start ?? probedServers[name]
  if (!begin) return []
  await using server = await begin()
  const answers: string[] = []
  for (const { version } of revisions) answers.push(await revisionSupport(server, version))
  for (const probe of Object.values(probes)) answers.push(await probe(server))
  return answers
}

/** Starts `McpAgent` on workerd. */
async function startAgent(): Promise<StartedServer> {
  installPeer('mcp-agent')
  const running = await start('mcp-agent/worker.js')
  return {
    url: running.urlOf('/mcp'),
    fetch: (request) => fetch(request),
    [Symbol.asyncDispose]: () => running.stop(),
  }
}
