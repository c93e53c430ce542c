// Links and badges that add a server to hosts, and the commands for hosts as users run them.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { installLinks } from '../../../../runtimes/node/cli/links.ts'
import { runCommand } from '../../../../runtimes/node/cli/run.ts'
import { readAs } from './host-formats.ts'
import { startWith } from './run.ts'

const url = 'https://example.com/mcp'

/** The server in a link of Cursor: https://cursor.com/docs/mcp/install-links */
function cursorServer(link: string): unknown {
  const { searchParams } = new URL(link)
  const config: unknown = JSON.parse(
    Buffer.from(searchParams.get('config') ?? '', 'base64').toString(),
  )
  return readAs(
    'cursor',
    JSON.stringify({ mcpServers: { [searchParams.get('name') ?? '']: config } }),
  )
}

/** The server in a link of VS Code: JSON behind the question mark. */
function vscodeServer(link: string): unknown {
  const json = decodeURIComponent(link.slice('vscode:mcp/install?'.length))
  const { name, inputs, ...server } = JSON.parse(json) as Record<string, unknown>
  return readAs('vscode', JSON.stringify({ servers: { [String(name)]: server }, inputs }))
}

describe('A link', () => {
  it('contains a server in the format of its host', () => {
    const { cursor, cursorWeb, vscode, vscodeWeb } = installLinks('ünicode', { url, headers: {} })
    expect(cursor).toMatch(/^cursor:\/\/anysphere\.cursor-deeplink\/mcp\/install\?name=/)
    expect(cursorWeb).toMatch(/^https:\/\/cursor\.com\/en\/install-mcp\?/)
    for (const link of [cursor, cursorWeb]) {
      expect(cursorServer(link)).toEqual({ mcpServers: { ünicode: { url } } })
    }
    expect(vscodeServer(vscode)).toEqual({ servers: { ünicode: { type: 'http', url } } })
    expect(new URL(vscodeWeb).searchParams.get('url')).toBe(vscode)
  })

  it('starts a program that users install', () => {
    const program = { command: 'npx', args: ['-y', 'travel', 'ä&b=c'], env: {} }
    const { cursor, vscode } = installLinks('travel', program)
    const { env: _, ...server } = program
    expect(cursorServer(cursor)).toEqual({ mcpServers: { travel: server } })
    expect(vscodeServer(vscode)).toEqual({ servers: { travel: { type: 'stdio', ...server } } })
  })

  it('contains no value of a header or a variable', () => {
    const headers = { Authorization: 'Bearer secret', 'X-Key': 'secret', 'X-Own': '${MINE}' }
    const remote = installLinks('travel', { url, headers })
    expect(cursorServer(remote.cursor)).toMatchObject({
      mcpServers: {
        travel: {
          headers: {
            ...{ Authorization: 'Bearer ${env:TOKEN}', 'X-Key': '${env:X_KEY}' },
            'X-Own': '${env:MINE}',
          },
        },
      },
    })
    expect(vscodeServer(remote.vscode)).toMatchObject({
      servers: { travel: { headers: { Authorization: 'Bearer ${input:travel-authorization}' } } },
      inputs: [{ id: 'travel-authorization', password: true }, { id: 'travel-x-key' }],
    })
    const program = { command: 'npx', args: [], env: { KEY: 'secret' } }
    const local = installLinks('travel', program)
    expect(cursorServer(local.cursor)).toMatchObject({
      mcpServers: { travel: { env: { KEY: '${env:KEY}' } } },
    })
    for (const link of Object.values({ ...remote, ...local })) {
      expect(decodeURIComponent(decodeURIComponent(link))).not.toContain('secret')
    }
  })
})

describe('The command', () => {
  let home: string
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'edgewise-home-'))
  })
  afterAll(() => rm(home, { recursive: true }))

  const run = (...words: string[]) => {
    const env = { PATH: process.env.PATH, HOME: home, EDGEWISE_TOKEN: 'from the environment' }
    return startWith(env, ...words).ended
  }

  it('"links" prints badges that link to web addresses', async () => {
    const { code, out } = await run('links', url)
    const { cursorWeb, vscodeWeb } = installLinks('example', { url, headers: {} })
    const badge = /^\[!\[[^\]]+\]\(https:[^)]+\)\]\((https:[^)]+)\)$/gm
    expect([code, Array.from(out.matchAll(badge), ([, to]) => to)]).toEqual([
      0,
      [cursorWeb, vscodeWeb],
    ])
  })

  it('"install" adds a server to several hosts, and "uninstall" removes it', async () => {
    const hosts = ['--client', 'cursor', '--client', 'codex']
    const dry = await run('install', url, ...hosts, '--dry-run')
    expect(dry).toMatchObject({ code: 0, out: expect.stringContaining('[mcp_servers.example]') })
    const path = join(home, '.cursor/mcp.json')
    await expect(readFile(path)).rejects.toThrow('ENOENT')
    const { code, out, err } = await run('install', url, ...hosts)
    expect([code, out]).toEqual([
      0,
      expect.stringContaining(`Added "example" to Cursor in ${path}`),
    ])
    expect(err).toContain('Start a new session of Codex')
    // The token of the environment is for calls
    expect(readAs('cursor', await readFile(path, 'utf8'))).toEqual({
      mcpServers: { example: { url } },
    })
    expect(await run('uninstall', 'example', ...hosts)).toMatchObject({ code: 0 })
    expect(readAs('cursor', await readFile(path, 'utf8'))).toEqual({ mcpServers: {} })
  })

  it('"install" adds a module, and reports a configuration that it cannot read', async () => {
    const module = join(home, 'server.mjs')
    await writeFile(module, '')
    await writeFile(join(home, '.claude.json'), '{')
    const { code, out } = await run(
      'install',
      module,
      '--client',
      'zed',
      '--dry-run',
      '--env',
      'A=b',
    )
    expect(code).toBe(0)
    expect(readAs('zed', out)).toMatchObject({
      context_servers: { server: { command: 'node', args: [module], env: { A: 'b' } } },
    })
    expect(await run('install', module, '--client', 'claude-code')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/\.claude\.json" is not valid JSON: .* at line 1, column 2\n$/),
    })
  })

  it.each([
    [['install', url], 'Specify a host with "--client": claude-code, '],
    [['install', url, '--client', 'emacs'], 'Unknown host: "emacs"'],
    [['install', '--client', 'zed'], 'Specify a server'],
    [
      ['install', url, '--client', 'zed', '--scope', 'all'],
      '"--scope" must be "user" or "project"',
    ],
    [
      ['install', url, '--client', 'zed', '--scope', 'project'],
      'cannot be configured for a project',
    ],
    [['install', 'missing.js', '--client', 'zed'], 'Cannot find the module "missing.js"'],
    [['install', '--client', 'zed', '--cwd', '.', '--', 'x'], 'Zed does not support "--cwd"'],
    [['install', url, '--client', 'zed', '--timeout-ms', '1'], 'does not support "--timeout-ms"'],
    [['install', url, '--client', 'zed', '--env', 'A=b'], '"--env" has no effect with a URL'],
    [['links', '--', 'node', 'package.json'], 'is a file of this machine'],
    [['uninstall', '--client', 'zed'], 'The name of a server must be'],
    [['list', url, '--client', 'zed'], '"list" does not support "--client"'],
  ])('line %j is rejected: %s', async (words, message) => {
    const printed = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    const code = await runCommand(words)
    const text = printed.mock.calls.map(([line]) => String(line)).join('')
    printed.mockRestore()
    expect([code, text]).toEqual([2, expect.stringContaining(message)])
  })
})
