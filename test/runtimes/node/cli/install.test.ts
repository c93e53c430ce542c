// Servers in the configurations of hosts.
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readArguments } from '../../../../runtimes/node/cli/arguments.ts'
import {
  readConfiguration,
  replaceConfiguration,
} from '../../../../runtimes/node/cli/hosts/configuration-file.ts'
import { configurationPath } from '../../../../runtimes/node/cli/hosts/configuration-path.ts'
import type { ConfiguredServer } from '../../../../runtimes/node/cli/hosts/entry.ts'
import { hostNames, type McpHostName } from '../../../../runtimes/node/cli/hosts/host-names.ts'
import { hostOf, type Machine } from '../../../../runtimes/node/cli/hosts/host.ts'
import {
  configuredServer,
  chooseServerName,
} from '../../../../runtimes/node/cli/hosts/configured-server.ts'
import { addToHost, removeFromHost } from '../../../../runtimes/node/cli/install.ts'
import { parseJsonc, readAs } from './host-formats.ts'

let home: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'edgewise-home-'))
})
afterEach(() => rm(home, { recursive: true }))

const jsonHosts = hostNames.filter((host) => host !== 'codex')
const program: ConfiguredServer = { command: 'node', args: ['/srv/server.js'], env: { KEY: 'k 1' } }
const remote: ConfiguredServer = {
  url: 'https://example.com/mcp',
  headers: { Authorization: 'Bearer secret' },
}

const machineOn = (platform: NodeJS.Platform): Machine => ({ platform, home, env: {}, cwd: home })
const pathOf = (host: McpHostName, platform: NodeJS.Platform = 'linux'): string =>
  configurationPath(host, 'user', machineOn(platform))

function add(
  host: McpHostName,
  server: ConfiguredServer,
  options: { name?: string; platform?: NodeJS.Platform; dryRun?: boolean; force?: boolean } = {},
) {
  const { name = 'travel', platform = 'linux', dryRun = false, force = false } = options
  const machine = machineOn(platform)
  return addToHost(name, server, { host, scope: 'user', machine, dryRun, force })
}

function remove(host: McpHostName, name = 'travel') {
  const machine = machineOn('linux')
  return removeFromHost(name, { host, scope: 'user', machine, dryRun: false })
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}

/** The server of a configuration, as its host reads it. */
function serverIn(host: McpHostName, text: string, name = 'travel'): unknown {
  const { [hostOf(host).section]: servers } = readAs(host, text)
  return (servers as Record<string, unknown>)[name]
}

/** The entry of a server without what the host asks for, or names in its own way. */
const expected = {
  program: (host: McpHostName) => {
    if (host !== 'vscode') return { command: 'node', args: ['/srv/server.js'], env: { KEY: 'k 1' } }
    return { type: 'stdio', command: 'node', env: { KEY: '${input:travel-key}' } }
  },
  remote: (host: McpHostName) => {
    const { url } = remote as { url: string }
    const headers = { Authorization: 'Bearer secret' }
    if (host === 'windsurf') return { serverUrl: url, headers }
    if (host === 'codex') return { url, http_headers: headers }
    if (host !== 'vscode') return { url, headers }
    return { url, headers: { Authorization: 'Bearer ${input:travel-authorization}' } }
  },
}

describe('A server is added to the configuration of', () => {
  describe.each(hostNames)('%s', (host) => {
    it.each(['linux', 'darwin'] as const)('that is missing, on %s', async (platform) => {
      const added = await add(host, program, { platform })
      expect(added).toMatchObject({ path: pathOf(host, platform), changed: true })
      expect(added.backup).toBeUndefined()
      const text = await readFile(added.path, 'utf8')
      expect(text).toBe(added.text)
      expect(serverIn(host, text)).toMatchObject(expected.program(host))
      expect((await stat(added.path)).mode & 0o777).toBe(0o600)
    })

    it('that is missing, on Windows', async () => {
      // Elsewhere, the path would be a name with backslashes
      const dryRun = process.platform !== 'win32'
      const added = await add(host, program, { platform: 'win32', dryRun })
      expect(added).toMatchObject({ path: pathOf(host, 'win32'), changed: true })
      expect(serverIn(host, added.text)).toMatchObject(expected.program(host))
    })

    it('twice without a change, and in place of another one only if that is forced', async () => {
      await add(host, program)
      const other = { ...program, args: ['/srv/other.js'], env: {} }
      expect(await add(host, program)).toMatchObject({ changed: false, backup: undefined })
      await expect(add(host, other)).rejects.toThrow('already has another server "travel"')
      const { text } = await add(host, other, { force: true })
      expect(serverIn(host, text)).toMatchObject({ args: ['/srv/other.js'] })
      expect(text).not.toContain('/srv/server.js')
    })

    it('beside another one, and is removed again', async () => {
      const first = await add(host, program, { name: 'other' })
      const second = await add(host, program)
      expect(second.backup).toBe(`${first.path}.edgewise-backup`)
      expect(await readFile(second.backup ?? '', 'utf8')).toBe(first.text)
      const removed = await remove(host)
      expect(await readFile(removed.path, 'utf8')).toBe(first.text)
      await expect(remove(host)).rejects.toThrow(/has no server "travel" in .*: it has other$/)
    })

    it('and nothing is written in a dry run', async () => {
      const { text, changed } = await add(host, program, { dryRun: true })
      expect(changed).toBe(true)
      expect(serverIn(host, text)).toMatchObject(expected.program(host))
      expect(await readdir(home)).toEqual([])
    })

    it('that is invalid, read-only, a folder or no UTF-8 is not changed', async () => {
      const path = pathOf(host)
      const invalid = host === 'codex' ? '[mcp_servers\nx = 1\n' : '{\n  "a": 1\n  "b": 2\n}\n'
      await write(path, invalid)
      await expect(add(host, program)).rejects.toThrow(/is not valid (?:JSON|TOML): .* line \d+/)
      expect(await readFile(path, 'utf8')).toBe(invalid)
      await writeFile(path, Buffer.from([0x23, 0xff, 0xfe, 0x0a]))
      await expect(add(host, program)).rejects.toThrow('is not encoded in UTF-8')
      await writeFile(path, '')
      await chmod(path, 0o400)
      await expect(add(host, program)).rejects.toThrow('is read-only')
      expect(await readdir(dirname(path))).toHaveLength(1)
      await rm(path)
      await mkdir(path)
      await expect(add(host, program)).rejects.toThrow('is not a file')
    })

    it('whose servers have another form is not changed', async () => {
      const { section } = hostOf(host)
      const text = host === 'codex' ? `${section} = [1]\n` : `{ "${section}": [1] }`
      await write(pathOf(host), text)
      await expect(add(host, program)).rejects.toThrow(`"${section}" in`)
      expect(await readFile(pathOf(host), 'utf8')).toBe(text)
    })

    it('that several installations change at once, of which none is lost unnoticed', async () => {
      await add(host, program, { name: 'first' })
      const names = Array.from({ length: 8 }, (_, index) => `server-${index}`)
      const results = await Promise.allSettled(names.map((name) => add(host, program, { name })))
      for (const result of results) {
        if (result.status === 'rejected') expect(String(result.reason)).toContain('has changed')
      }
      const text = await readFile(pathOf(host), 'utf8')
      const added = names.filter((name) => serverIn(host, text, name) !== undefined)
      expect(added).toEqual(names.filter((_, index) => results[index]?.status === 'fulfilled'))
      expect(added.length).toBeGreaterThan(0)
      expect(serverIn(host, text, 'first')).toBeDefined()
      expect(await readdir(dirname(pathOf(host)))).toHaveLength(2)
    })
  })

  it.each(hostNames.filter((host) => host !== 'claude-desktop'))(
    '%s, with its URL and headers',
    async (host) => {
      const { text, plainTextNames, inputs } = await add(host, remote)
      expect(serverIn(host, text)).toMatchObject(expected.remote(host))
      expect(text.includes('secret')).toBe(host !== 'vscode')
      expect([...plainTextNames, ...inputs.map(({ id }) => id)]).toEqual([
        host === 'vscode' ? 'travel-authorization' : 'Authorization',
      ])
    },
  )
})

describe('Text around a server stays as it is', () => {
  const commented = (section: string): string => `// My settings
{
\t"theme": "One", // dark
\t"${section}": {
\t\t// first
\t\t"other": { "command": "x", "args": [] }, // mine
\t\t/* last */
\t},
\t"size": 12 // points
}
`

  it.each(jsonHosts)('with comments and trailing commas in that of %s', async (host) => {
    const { section } = hostOf(host)
    const before = commented(section).replace(
      '"command"',
      host === 'vscode' || host === 'claude-code' ? '"type": "stdio", "command"' : '"command"',
    )
    await write(pathOf(host), before)
    const { text } = await add(host, { ...program, env: {} })
    expect(serverIn(host, text)).toMatchObject({ command: 'node' })
    expect(readAs(host, text)).toMatchObject({ theme: 'One', size: 12 })
    for (const line of before.split('\n')) expect(text.split('\n')).toContain(line)
    expect(text).toContain('\n\t\t"travel": {\n')
    await remove(host)
    expect(await readFile(pathOf(host), 'utf8')).toBe(before)
  })

  it.each([
    ['an object in one line', '{"a":1}'],
    ['an empty object', '{}'],
    ['a comment in an empty object', '{\n  // nothing\n}\n'],
    ['a comment behind the last member', '{\n  "a": 1 // one\n}\n'],
    ['a comma in the next line', '{\n  "a": 1\n  , "b": 2\n}\n'],
    ['Windows line ends', '{\r\n    "a": 1\r\n}\r\n'],
    ['a byte order mark', '\uFEFF{ "a": 1 }'],
    ['a member that occurs twice', '{ "context_servers": { "x": {} }, "context_servers": {} }'],
  ])('with %s', async (_, before) => {
    const path = pathOf('zed')
    await write(path, before)
    await add('zed', program)
    const text = await readFile(path, 'utf8')
    expect(serverIn('zed', text)).toMatchObject(expected.program('zed'))
    for (const comment of before.match(/\/\/.*/g) ?? []) expect(text).toContain(comment)
    expect(text.startsWith('\uFEFF')).toBe(before.startsWith('\uFEFF'))
    if (before.includes('\r\n')) expect(text.replaceAll('\r\n', '')).not.toContain('\n')
    await remove('zed')
    const after = await readFile(path, 'utf8')
    for (const comment of before.match(/\/\/.*/g) ?? []) expect(after).toContain(comment)
    expect(parseJsonc(after)).toEqual({ ...parseJsonc(before), context_servers: {} })
  })

  const toml = `# My settings
model = "o" # fast

[mcp_servers.other]
command = "x"
args = []

[mcp_servers.other.env]
A = "1"

# about tools
[tools]
when = 2026-11-29T10:00:00Z
`

  it('with comments and tables in that of Codex', async () => {
    await write(pathOf('codex'), toml)
    const { text } = await add('codex', program)
    expect(text.startsWith(toml)).toBe(true)
    expect(serverIn('codex', text)).toEqual(expected.program('codex'))
    await write(pathOf('codex'), toml.replaceAll('other', 'travel'))
    const { text: replaced } = await add('codex', program, { force: true })
    expect(serverIn('codex', replaced)).toEqual(expected.program('codex'))
    for (const line of ['# My settings', 'model = "o" # fast', '# about tools', '[tools]']) {
      expect(replaced.split('\n')).toContain(line)
    }
    await remove('codex')
    const rest = await readFile(pathOf('codex'), 'utf8')
    expect(rest).toContain('# about tools\n[tools]\n')
    expect(rest).not.toContain('mcp_servers')
  })

  it.each([
    ['Windows line ends', '# a\r\nx = 1\r\n\r\n[b]\r\ny = 2\r\n'],
    ['no line end', 'x = 1'],
    ['a quoted name', '[mcp_servers."a b"]\ncommand = "x"\nargs = []\n'],
    ['an array of tables', '[[a]]\nx = 1\n\n[mcp_servers.other]\nurl = "https://a.example"\n'],
  ])('in TOML with %s, also after the server is removed', async (_, before) => {
    await write(pathOf('codex'), before)
    const awkward = { command: 'C:\\x', args: ['"', 'é\n'], env: { 'A B': "'" } }
    const { text } = await add('codex', awkward)
    expect(text.startsWith(before)).toBe(true)
    expect(serverIn('codex', text)).toEqual(awkward)
    if (before.includes('\r\n')) expect(text.replaceAll('\r\n', '')).not.toContain('\n')
    await remove('codex')
    expect((await readFile(pathOf('codex'), 'utf8')).trimEnd()).toBe(before.trimEnd())
  })

  it.each([
    'mcp_servers = { other = { command = "x" } }\n',
    '[mcp_servers]\ntravel = { command = "x" }\n',
    '[mcp_servers.travel]\ncommand = """\n[other]\n"""\n',
  ])('in tables of Codex that cannot be edited without other changes: %s', async (text) => {
    await write(pathOf('codex'), text)
    await expect(add('codex', program, { force: true })).rejects.toThrow('edit the file by hand')
    expect(await readFile(pathOf('codex'), 'utf8')).toBe(text)
  })

  it('in the inputs of VS Code, of which only those of the server are removed', async () => {
    const before = `{
  "inputs": [
    // mine
    { "type": "promptString", "id": "mine", "description": "Mine" },
  ],
  "servers": { "other": { "type": "http", "url": "https://a.example/\${input:mine}" } },
}
`
    await write(pathOf('vscode'), before)
    const { text } = await add('vscode', remote)
    expect(readAs('vscode', text)['inputs']).toMatchObject([
      { id: 'mine' },
      { id: 'travel-authorization', password: true },
    ])
    await add('vscode', { ...remote, headers: { 'X-Key': 'b' } }, { force: true })
    expect(readAs('vscode', await readFile(pathOf('vscode'), 'utf8'))['inputs']).toMatchObject([
      { id: 'mine' },
      { id: 'travel-x-key' },
    ])
    await remove('vscode')
    const after = await readFile(pathOf('vscode'), 'utf8')
    expect(after.replaceAll(/\s/g, '')).toBe(before.replaceAll(/\s/g, ''))
  })

  it('that is nested too deeply is not changed', async () => {
    const before = `{ "a": ${'['.repeat(50_000)}${']'.repeat(50_000)} }`
    await write(pathOf('cursor'), before)
    await expect(add('cursor', program)).rejects.toThrow('is nested too deeply')
    expect(await readFile(pathOf('cursor'), 'utf8')).toBe(before)
  })

  it('in the inputs of VS Code, but not in place of one that another server uses', async () => {
    const before = `{
  "inputs": [{ "type": "pickString", "id": "travel-authorization", "options": ["mine"] }],
  "servers": { "other": { "type": "http", "url": "https://a.example/\${input:travel-authorization}" } }
}
`
    await write(pathOf('vscode'), before)
    await expect(add('vscode', remote)).rejects.toThrow(
      'uses the input "travel-authorization": choose another name with "--name"',
    )
    expect(await readFile(pathOf('vscode'), 'utf8')).toBe(before)
  })
})

describe('A configuration', () => {
  it('that is a symbolic link is changed where the link leads', async () => {
    const real = join(home, 'dotfiles', 'mcp.json')
    await write(real, '{ "mcpServers": {} }')
    await chmod(real, 0o640)
    const path = pathOf('cursor')
    await mkdir(dirname(path))
    await symlink(real, path)
    const { backup } = await add('cursor', program)
    expect(serverIn('cursor', await readFile(real, 'utf8'))).toBeDefined()
    expect(backup).toBe(`${real}.edgewise-backup`)
    expect((await stat(real)).mode & 0o777).toBe(0o640)
    expect(await readdir(dirname(path))).toEqual(['mcp.json'])
    await rm(real)
    await expect(add('cursor', program)).rejects.toThrow('is a link to a missing file')
  })

  it('that another program changes between reading and writing is not overwritten', async () => {
    const path = pathOf('zed')
    await write(path, '{}')
    const read = await readConfiguration(path)
    await writeFile(path, '{ "theme": "new" }')
    await expect(replaceConfiguration(read, '{ "ours": 1 }', { mode: 0o600 })).rejects.toThrow(
      'Another program has changed',
    )
    expect(await readFile(path, 'utf8')).toBe('{ "theme": "new" }')
    expect(await readdir(dirname(path))).toEqual(['settings.json'])
    const missing = await readConfiguration(pathOf('cursor'))
    await write(pathOf('cursor'), '{}')
    await expect(replaceConfiguration(missing, '{}', { mode: 0o600 })).rejects.toThrow(
      'Another program has changed',
    )
  })

  it.each([
    ['claude-code', 'C:\\Users\\Ada\\.claude.json'],
    ['claude-desktop', 'D:\\Roaming\\Claude\\claude_desktop_config.json'],
    ['cursor', 'C:\\Users\\Ada\\.cursor\\mcp.json'],
    ['vscode', 'D:\\Roaming\\Code\\User\\mcp.json'],
    ['codex', 'C:\\Users\\Ada\\.codex\\config.toml'],
    ['windsurf', 'C:\\Users\\Ada\\.codeium\\windsurf\\mcp_config.json'],
    ['zed', 'D:\\Roaming\\Zed\\settings.json'],
  ] as const)('of %s is at its place on Windows', (host, path) => {
    const env = { APPDATA: 'D:\\Roaming' }
    const machine = { platform: 'win32', home: 'C:\\Users\\Ada', env, cwd: 'C:\\project' } as const
    expect(configurationPath(host, 'user', machine)).toBe(path)
  })

  it('is where the variables of the host say', () => {
    const env = { XDG_CONFIG_HOME: '/x', CODEX_HOME: '/c', CLAUDE_CONFIG_DIR: '/d' }
    const machine = { platform: 'linux', home: '/h', env, cwd: '/p' } as const
    const paths = hostNames.map((host) => configurationPath(host, 'user', machine))
    expect(paths).toEqual([
      '/d/.claude.json',
      '/x/Claude/claude_desktop_config.json',
      '/h/.cursor/mcp.json',
      '/x/Code/User/mcp.json',
      '/c/config.toml',
      '/h/.codeium/windsurf/mcp_config.json',
      '/x/zed/settings.json',
    ])
    const mac = { ...machine, platform: 'darwin', env: {} } as const
    expect(configurationPath('zed', 'user', mac)).toBe('/h/.config/zed/settings.json')
    expect(configurationPath('vscode', 'user', mac)).toBe(
      '/h/Library/Application Support/Code/User/mcp.json',
    )
  })

  it('of a project is in its folder, if the host has one', () => {
    const machine = { platform: 'linux', home: '/h', env: {}, cwd: '/p' } as const
    const path = (host: McpHostName): string => configurationPath(host, 'project', machine)
    expect((['claude-code', 'cursor', 'vscode', 'codex'] as const).map(path)).toEqual([
      '/p/.mcp.json',
      '/p/.cursor/mcp.json',
      '/p/.vscode/mcp.json',
      '/p/.codex/config.toml',
    ])
    for (const host of ['claude-desktop', 'windsurf', 'zed'] as const) {
      expect(() => path(host)).toThrow('cannot be configured for a project')
    }
  })
})

describe('A reference to a variable', () => {
  const referring: ConfiguredServer = {
    url: 'https://example.com/mcp',
    headers: { Authorization: 'Bearer ${TOKEN}', 'X-Key': '${KEY}' },
  }

  it.each([
    ['claude-code', { headers: { Authorization: 'Bearer ${TOKEN}', 'X-Key': '${KEY}' } }],
    ['cursor', { headers: { Authorization: 'Bearer ${env:TOKEN}', 'X-Key': '${env:KEY}' } }],
    ['vscode', { headers: { Authorization: 'Bearer ${env:TOKEN}', 'X-Key': '${env:KEY}' } }],
    ['windsurf', { headers: { Authorization: 'Bearer ${env:TOKEN}', 'X-Key': '${env:KEY}' } }],
    ['codex', { bearer_token_env_var: 'TOKEN', env_http_headers: { 'X-Key': 'KEY' } }],
  ] as const)('has the form of %s, and stores nothing', async (host, entry) => {
    const { text, plainTextNames, inputs } = await add(host, referring)
    expect(serverIn(host, text)).toMatchObject(entry)
    expect([plainTextNames, inputs]).toEqual([[], []])
  })

  it('is rejected where the host has none', async () => {
    await expect(add('zed', referring)).rejects.toThrow('Zed does not replace variables')
    const renamed = { ...program, env: { A: '${B}' } }
    await expect(add('codex', renamed)).rejects.toThrow('use "--env \'A=${A}\'"')
    const { text } = await add('codex', { ...program, env: { A: '${A}' } })
    expect(serverIn('codex', text)).toMatchObject({ env_vars: ['A'] })
  })
})

describe('The hosts of a command line', () => {
  it.each([
    [['install', 'example.com'], 'Specify a host with "--client"'],
    [['install', 'example.com', '--client', 'emacs'], 'Unknown host: "emacs"'],
    [['uninstall', 'travel', '--client', 'emacs'], 'Unknown host: "emacs"'],
  ])('are checked while %j is parsed, before a domain is looked up', (words, message) => {
    expect(() => readArguments(words)).toThrow(message)
  })
})

describe('A module in TypeScript', () => {
  const programOf = (...words: string[]): unknown => {
    const invocation = readArguments([...words, '--client', 'cursor'])
    return typeof invocation === 'object' && 'target' in invocation && invocation.target
  }

  it('is run by the tsx of its project, unless others use the configuration too', async () => {
    const path = join(home, 'src', 'main.ts')
    const byNpx = { command: 'npx', args: ['-y', 'tsx', path] }
    await write(path, '')
    expect(programOf('install', path)).toEqual(byNpx)
    const folder = join(home, 'node_modules', 'tsx')
    await write(join(folder, 'package.json'), '{ "exports": "./loader.mjs" }')
    await write(join(folder, 'loader.mjs'), '')
    const loader = pathToFileURL(await realpath(join(folder, 'loader.mjs'))).href
    expect(programOf('install', path)).toEqual({
      command: 'node',
      args: [`--import=${loader}`, path],
    })
    expect(programOf('install', path, '--scope', 'project')).toEqual(byNpx)
  })
})

describe('The server of a command line', () => {
  const options = (values: object = {}) => ({
    env: {},
    cwd: undefined,
    headers: new Headers(),
    ...values,
  })
  const convert = (target: object, host: McpHostName, platform: NodeJS.Platform, values = {}) => {
    const invocation = { target, options: options(values) } as Parameters<
      typeof configuredServer
    >[0]
    return configuredServer(invocation, { host, scope: 'user', machine: machineOn(platform) })
  }

  it('is started by the shell on Windows if it is a script', () => {
    const target = { command: 'npx', args: ['-y', 'x'] }
    expect(convert(target, 'cursor', 'win32')).toMatchObject({
      command: 'cmd',
      args: ['/c', 'npx', '-y', 'x'],
    })
    expect(convert(target, 'cursor', 'linux')).toMatchObject(target)
  })

  it('is reached through the bridge by Claude Desktop, without the token in the arguments', () => {
    const target = { url: 'https://example.com/mcp' }
    const args = ['-y', 'edgewise', 'bridge', 'https://example.com/mcp']
    expect(convert(target, 'claude-desktop', 'linux')).toMatchObject({
      command: 'npx',
      args: [...args, '--sign-in'],
    })
    const headers = new Headers({ authorization: 'Bearer t', 'x-key': 'k' })
    expect(convert(target, 'claude-desktop', 'linux', { headers })).toMatchObject({
      args: [...args, '--header', 'X-Key: k'],
      env: { EDGEWISE_TOKEN: 't' },
    })
  })

  it('has absolute paths of its files, because hosts start it in other folders', async () => {
    await write(join(home, 'dist/server.js'), '')
    const target = { command: 'node', args: ['--flag', 'dist/server.js', 'word'] }
    const path = join(home, 'dist/server.js')
    expect(convert(target, 'cursor', 'linux')).toMatchObject({ args: ['--flag', path, 'word'] })
    expect(convert(target, 'codex', 'linux', { cwd: 'dist' })).toMatchObject({
      ...target,
      cwd: join(home, 'dist'),
    })
  })

  it('has a name that hosts accept', async () => {
    await write(join(home, 'app/package.json'), '{ "name": "@scope/my.app" }')
    await write(join(home, 'app/src/main.js'), '')
    const names: [target: Parameters<typeof chooseServerName>[0], name: string][] = [
      [{ url: 'https://mcp.linear.app/mcp' }, 'linear'],
      [{ url: 'https://example.com/' }, 'example'],
      [{ url: 'https://travel.ada.workers.dev/mcp' }, 'ada'],
      [{ url: 'http://localhost:8000/mcp' }, 'localhost'],
      [{ command: 'npx', args: ['-y', '@scope/weather@1.2.3', 'arg'] }, 'weather'],
      [{ command: 'node', args: ['app/src/main.js'] }, 'my-app'],
      [{ command: 'my-server', args: [] }, 'my-server'],
    ]
    for (const [target, name] of names) expect(chooseServerName(target, undefined, home)).toBe(name)
    expect(() => chooseServerName({ url: 'http://127.0.0.1:8000/mcp' }, undefined, home)).toThrow(
      '"--name"',
    )
    expect(() => chooseServerName({ url: 'https://example.com/' }, 'my server', home)).toThrow(
      'must be a letter',
    )
  })
})
