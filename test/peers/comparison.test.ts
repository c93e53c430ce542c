// What docs/comparison and its pages state about the servers of each SDK.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'

import { revisions } from '../../src/index.ts'
import { root } from '../root.ts'
import { probes } from './probes.ts'
import { revisionSupport } from './revision-support.ts'
import { probedServers, type StartedServer } from './servers/probed.ts'

const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const [, revisionsSection = ''] = read('docs/comparison.md').split('## Revisions\n')
const manifest = read('package.json')
const versions = revisions.map(({ version }) => version)
const names = Object.keys(probedServers)
/** The page of each SDK, with the packages whose versions it states. */
const pages: Readonly<Record<string, { path: string; packages: readonly string[] }>> = {
  'official SDK v1': { path: 'official-v1', packages: ['@modelcontextprotocol/sdk'] },
  'official SDK v2': {
    path: 'official-v2',
    packages: ['@modelcontextprotocol/server', '@modelcontextprotocol/client'],
  },
  'mcp-lite': { path: 'mcp-lite', packages: ['mcp-lite'] },
  tmcp: { path: 'tmcp', packages: ['tmcp', '@tmcp/adapter-zod', '@tmcp/transport-http'] },
}

const started = new Map<string, Promise<StartedServer>>()
afterAll(async () => {
  for (const server of started.values()) await (await server)[Symbol.asyncDispose]()
})

function start(name: string): Promise<StartedServer> {
  const server = started.get(name) ?? probedServers[name]!()
  started.set(name, server)
  return server
}

describe('The page that compares SDKs', () => {
  it('has a column for each revision', () => {
    expect(cellsOf(revisionsSection, 'SDK')).toEqual(versions)
  })

  it.each(names)('states what a server of %s supports', async (name) => {
    const server = await start(name)
    const supported = await Promise.all(versions.map((each) => revisionSupport(server, each)))
    expect(cellsOf(revisionsSection, name)).toEqual(supported)
  })
})

describe('The page about an SDK', () => {
  it.each(Object.entries(pages))('names the versions of %s', (_name, { path, packages }) => {
    const text = read(`docs/comparison/${path}.md`)
    for (const each of packages) {
      const [, version] = new RegExp(`"${each}": "([^"]+)"`).exec(manifest) ?? []
      expect(text).toContain(`\`${each}\` ${version}`)
    }
  })

  it.each(Object.entries(pages))('states how a server of %s answers', async (name, { path }) => {
    const text = read(`docs/comparison/${path}.md`)
    const servers = [await start('Edgewise'), await start(name)]
    for (const [sent, probe] of Object.entries(probes)) {
      const answers = await Promise.all(servers.map((server) => probe(server)))
      expect([sent, ...cellsOf(text, sent)]).toEqual([sent, ...answers])
    }
  })
})

/** The cells of the row of a table, without the first. */
function cellsOf(text: string, first: string): string[] {
  const row = text.split('\n').find((line) => line.startsWith(`| ${first} `)) ?? ''
  return row
    .split('|')
    .slice(2, -1)
    .map((cell) => cell.trim())
}
