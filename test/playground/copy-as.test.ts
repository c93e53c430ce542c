// Requests as programs, commands and configurations: each is run, or read as its host does.
import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createServer, text } from 'edgewise/server'
import * as z from 'zod'
import { commandLine } from '../../examples/playground/page/copy-as/command.ts'
import { curl, curlScript } from '../../examples/playground/page/copy-as/curl.ts'
import { hostConfiguration, shownHosts } from '../../examples/playground/page/copy-as/hosts.ts'
import type { Operation, ServerAddress } from '../../examples/playground/page/copy-as/operation.ts'
import { literal, typescript } from '../../examples/playground/page/copy-as/typescript.ts'
import { root } from '../root.ts'
import { readAs } from '../runtimes/node/cli/host-formats.ts'
import { host, type Host } from './host.ts'

const name = `O'Brien "x" $HOME \`id\` \\ ü\n`
const server = createServer({ name: 'copied', version: '1.0.0' })
server.tool('greet', { input: z.object({ name: z.string() }) }, (given) => text(given.name))
server.prompt('plan', { input: z.object({ name: z.string() }) }, (given) => given.name)
server.resource("copied://it's", { name: 'it' }, () => name)

const operations: Operation[] = [
  { method: 'tools/call', name: 'greet', arguments: { name } },
  { method: 'prompts/get', name: 'plan', arguments: { name } },
  { method: 'resources/read', uri: "copied://it's" },
]
let served: Host
beforeAll(async () => void (served = await host(server)))
afterAll(() => served.close())

const address = (changes: Partial<ServerAddress> = {}): ServerAddress => ({
  url: `${served.url}/mcp`,
  name: 'copied',
  revision: '2026-07-28',
  isPinned: false,
  headerNames: [],
  access: 'none',
  ...changes,
})

/** Runs a program, and returns what it prints. */
function run(command: string, words: readonly string[], env = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, words, { cwd: root, env: { ...process.env, ...env } })
    let out = ''
    let errors = ''
    child.stdout.setEncoding('utf8').on('data', (part: string) => (out += part))
    child.stderr.setEncoding('utf8').on('data', (part: string) => (errors += part))
    child.on('error', reject)
    child.on('close', (code) => (code === 0 ? resolve(out) : reject(new Error(errors + out))))
  })
}

/** The text in a result of any of the operations. */
const shown = JSON.stringify(name).slice(1, -1)

describe('A request copied', () => {
  it.each(operations)('as curl sends $method in 2026-07-28', async (operation) => {
    expect(await run('sh', ['-c', curlScript(address(), operation)])).toContain(shown)
  })

  it('as curl opens and ends a session in 2025-06-18', async () => {
    const [call] = operations
    const script = curlScript(address({ revision: '2025-06-18' }), call!)
    expect(await run('sh', ['-c', script])).toContain(shown)
    expect(script).toContain('-X DELETE')
  })

  it('as a command of Edgewise sends the request', async () => {
    const [call] = operations
    const command = commandLine(address(), call!).replace(
      'npx edgewise',
      `"${process.execPath}" dist/runtimes/node/cli/main.js`,
    )
    expect(await run('sh', ['-c', `${command} --json`])).toContain(shown)
  })

  it('as TypeScript is a program that sends the request', async () => {
    const [call] = operations
    const cache = join(root, '.cache')
    await mkdir(cache, { recursive: true })
    const folder = await mkdtemp(join(cache, 'copied-'))
    try {
      const file = join(folder, 'program.mts')
      await writeFile(file, typescript(address({ isPinned: true }), call!))
      expect(await run(process.execPath, ['--import', 'tsx', file])).toContain(shown)
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('contains variables in place of secrets', () => {
    const [call] = operations
    const secret = address({ headerNames: ['X-Api-Key'], access: 'token', isPinned: true })
    expect(curlScript(secret, call!)).toContain('-H "X-Api-Key: $X_API_KEY"')
    expect(curlScript(secret, call!)).toContain('-H "Authorization: Bearer $TOKEN"')
    expect(commandLine(secret, call!)).toMatch(/^EDGEWISE_TOKEN="\$TOKEN" npx edgewise call /)
    expect(commandLine(secret, call!)).toContain('--revision 2026-07-28 --header "X-Api-Key')
    expect(typescript(secret, call!)).toContain(`'X-Api-Key': process.env.X_API_KEY ?? ''`)
    expect(commandLine(address({ access: 'sign-in' }), call!)).toMatch(/ --sign-in$/)
  })

  it('as curl repeats arguments in headers where the schema says so', () => {
    const inputSchema = {
      type: 'object',
      properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
    }
    const call = { method: 'tools/call' as const, name: 'greet', arguments: { region: 'eu' } }
    expect(curlScript(address(), { ...call, inputSchema })).toContain(`'mcp-param-region: eu'`)
  })

  it('as curl is one request, even if the URL has brackets', async () => {
    const [call] = operations
    const url = `${served.url}/mcp?a={x,y}&b=[1-3]&c[]=1`
    const out = await run('sh', ['-c', curlScript(address({ url }), call!)])
    expect(out.split(shown)).toHaveLength(2)
  })

  it('as curl has the values of arguments as they are, even if they look like variables', async () => {
    const inputSchema = {
      type: 'object',
      properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
    }
    const call = {
      method: 'tools/call' as const,
      name: '${HOME}',
      arguments: { region: '${PATH}' },
    }
    const script = curlScript(address(), { ...call, inputSchema })
    expect(script).toContain("-H 'Mcp-Name: ${HOME}'")
    expect(script).toContain("-H 'mcp-param-region: ${PATH}'")
  })

  it('as curl runs nothing else, even if its parts come from the file of somebody else', async () => {
    const hostile = '-o/dev/null; echo $((6*7)) `echo hostile`'
    const headers = { [hostile]: '${HOME} $(echo hostile)' }
    const command = curl({ url: hostile, method: hostile, headers, body: hostile })
    const printed = await run('sh', ['-c', `curl() { printf '%s\\n' "$@"; }; ${command}`])
    expect(printed.trimEnd().split('\n')).toEqual([
      ...['-sS', '-X', hostile, '--url', hostile],
      ...['-H', `${hostile}: \${HOME} $(echo hostile)`, '--data-raw', hostile],
    ])
  })

  it('as curl may have any method and headers', () => {
    const headers = { Accept: 'text/event-stream' }
    expect(curl({ url: 'https://example.com/a?b=c', headers })).toBe(
      "curl -sS 'https://example.com/a?b=c' \\\n  -H 'Accept: text/event-stream'",
    )
  })
})

describe('A literal of TypeScript', () => {
  it('is the same value', () => {
    const value = {
      plain: [1, null, true],
      'with-dash': name,
      ['__proto__']: { a: 1 },
      long: Array.from({ length: 20 }, (_, index) => `item ${index}`),
      empty: [{}, []],
    }
    const evaluated: unknown = runInNewContext(`(${literal(value)})`)
    expect(JSON.stringify(evaluated)).toBe(JSON.stringify(value))
  })
})

describe('A configuration entry', () => {
  it.each(shownHosts)('of %s is valid, with and without secrets', (hostName) => {
    for (const access of ['none', 'token', 'sign-in'] as const) {
      const { text: entry, file } = hostConfiguration(
        hostName,
        address({ name: 'My server', headerNames: ['X-Api-Key'], access }),
        'linux',
      )
      expect(JSON.stringify(readAs(hostName, entry))).toContain('My-server')
      expect(file).toMatch(/^~\//)
    }
  })

  it('of Claude Desktop starts the bridge, on Windows by the shell', () => {
    const { text: entry, file } = hostConfiguration('claude-desktop', address(), 'win32')
    expect(JSON.parse(entry)).toEqual({
      mcpServers: {
        copied: {
          command: 'cmd',
          args: ['/c', 'npx', '-y', 'edgewise', 'bridge', address().url, '--sign-in'],
        },
      },
    })
    expect(file).toBe('%USERPROFILE%\\AppData\\Roaming\\Claude\\claude_desktop_config.json')
  })
})
