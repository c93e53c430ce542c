/**
 * What a server of each SDK supports in each revision, as docs/comparison.md states it: a client of
 * Edgewise, which supports all revisions, calls a tool and, if the revision has questions, a tool that
 * asks the user.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'

import { revisions, type Revision } from '../../src/index.ts'
import { connect, type ConnectOptions } from '../../src/presets/client.ts'
import { createHandler, statefulSessions } from '../../src/presets/server.ts'
import { root } from '../root.ts'
import { booked, greeting, textOf } from './contract.ts'
import { createPeerServer } from './servers/edgewise.ts'
import { listenV1, listenV2 } from './servers/http.ts'
import { serveMcpLite } from './servers/mcp-lite.ts'
import { serveTmcp } from './servers/tmcp.ts'

/** The first revision in which servers ask the user. */
const ASKING: Revision = '2025-06-18'

type Support = 'questions' | 'calls' | 'no'

const page = readFileSync(join(root, 'docs/comparison.md'), 'utf8')
const manifest = readFileSync(join(root, 'package.json'), 'utf8')
const versions = revisions.map(({ version }) => version)
const disposed: AsyncDisposable[] = []
afterAll(() => Promise.all(disposed.map((each) => each[Symbol.asyncDispose]())))

/** The SDKs, with the endpoint of a server and, if the server needs no network, its handler. */
const servers: Record<string, () => Promise<ConnectOptions & { url: string }>> = {
  Edgewise: () => inProcess(createHandler(createPeerServer(), { sessions: statefulSessions() })),
  'official SDK v1': () => listening(listenV1()),
  'official SDK v2': () => listening(listenV2()),
  'mcp-lite': () => inProcess(serveMcpLite(true)),
  tmcp: () => inProcess(serveTmcp()),
}

async function inProcess(handle: (request: Request) => Promise<Response>) {
  const fetch = (url: string, init: RequestInit): Promise<Response> =>
    handle(new Request(url, init))
  return { url: 'http://localhost/mcp', fetch }
}

async function listening(starting: ReturnType<typeof listenV1>) {
  const server = await starting
  disposed.push(server)
  return { url: server.url }
}

/** Calls both tools of a server. */
async function support(name: string, revision: Revision): Promise<Support> {
  const { url, ...options } = await servers[name]!()
  try {
    await using client = await connect(url, {
      ...options,
      revision,
      versionCache: new Map(),
      onElicit: () => ({ action: 'accept', content: { confirm: true } }),
      onError: () => {},
    })
    const call = async (tool: string, args: object): Promise<string> =>
      textOf((await client.callTool(tool, { ...args }, { timeoutMs: 5000 })).content[0])
    expect(await call('greet', { name: 'Ada' })).toBe(greeting('Ada'))
    if (revision < ASKING) return 'calls'
    const asked = await call('book', { city: 'Oslo' }).catch(String)
    return asked === booked('Oslo', true) ? 'questions' : 'calls'
  } catch {
    return 'no'
  }
}

describe('The page that compares SDKs', () => {
  it('has a column for each revision', () => {
    expect(cellsOf('SDK')).toEqual(versions)
  })

  it.each(Object.keys(servers))('states what a server of %s supports', async (name) => {
    const supported = await Promise.all(versions.map((version) => support(name, version)))
    expect(cellsOf(name)).toEqual(supported)
  })

  it.each([
    ['@modelcontextprotocol/sdk', 'official SDK v1'],
    ['@modelcontextprotocol/server', 'official SDK v2'],
    ['mcp-lite', 'mcp-lite'],
    ['tmcp', 'tmcp'],
  ])('states the version of %s', (dependency) => {
    const [, version] = new RegExp(`"${dependency}": "([^"]+)"`).exec(manifest) ?? []
    expect(page).toContain(`\`${dependency}\` ${version}`)
  })
})

/** The cells of a row of the table of revisions, without the first. */
function cellsOf(name: string): string[] {
  const [, table = ''] = page.split('## Revisions\n')
  const row = table.split('\n').find((line) => line.startsWith(`| ${name} `)) ?? ''
  return row
    .split('|')
    .slice(2, -1)
    .map((cell) => cell.trim())
}
