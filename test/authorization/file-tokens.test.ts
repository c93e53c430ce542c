// https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#token-theft
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fileTokens } from '../../runtimes/node/index.ts'
import { memoryTokens, type TokenStore } from '../../src/authorization/index.ts'
import { root } from '../process.ts'
import { bun, deno } from '../runtimes/binaries.ts'
import { createWorld, ISSUER } from './world.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'edgewise-tokens-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

describe.each<[string, () => TokenStore]>([
  ['in memory', () => memoryTokens()],
  ['in files', () => fileTokens(join(folder, 'deep', 'tokens'))],
])('tokens %s', (_, open) => {
  it('are given as they were set, until they are deleted', async () => {
    const tokens = open()
    expect(await tokens.get('a')).toBeUndefined()
    await tokens.set('a', { accessToken: 'ä', scopes: ['x'] })
    await tokens.set('b', { accessToken: 'b' })
    expect(await tokens.get('a')).toEqual({ accessToken: 'ä', scopes: ['x'] })
    await tokens.set('a', { accessToken: 'c' })
    expect(await tokens.get('a')).toEqual({ accessToken: 'c' })
    await tokens.delete('a')
    await tokens.delete('a')
    expect([await tokens.get('a'), await tokens.get('b')]).toEqual([
      undefined,
      { accessToken: 'b' },
    ])
  })

  it('are worked on one after another, even after failures', async () => {
    const tokens = open()
    let busy = 0
    const work = async (index: number): Promise<number> => {
      expect(++busy).toBe(1)
      await new Promise((resolve) => setTimeout(resolve, 5))
      busy--
      if (index === 1) throw new Error('Failed')
      return index
    }
    const all = Array.from({ length: 5 }, (__, index) => tokens.exclusively('k', () => work(index)))
    const results = await Promise.allSettled(all)
    expect(results.map((one) => (one.status === 'fulfilled' ? one.value : one.status))).toEqual([
      0,
      'rejected',
      2,
      3,
      4,
    ])
  })

  it('of other keys are not waited for', async () => {
    const tokens = open()
    await tokens.exclusively('a', () => tokens.exclusively('b', () => Promise.resolve()))
  })
})

describe('tokens in files', () => {
  it('are readable by their owner only, and have no name that tells anything [L-AUTH-072] [M-ASEC-048]', async () => {
    const tokens = fileTokens(join(folder, 'tokens'))
    await tokens.set('token https://mcp.example/mcp', { accessToken: 'x' })
    const [name = ''] = await readdir(join(folder, 'tokens'))
    expect(name).toMatch(/^[\w-]{43}\.json$/)
    if (process.platform === 'win32') return
    expect((await stat(join(folder, 'tokens'))).mode & 0o777).toBe(0o700)
    expect((await stat(join(folder, 'tokens', name))).mode & 0o777).toBe(0o600)
  })

  it('that are broken count as none', async () => {
    const tokens = fileTokens(folder)
    await tokens.set('k', { accessToken: 'x' })
    const [name = ''] = await readdir(folder)
    for (const text of ['', '{"half', '[]', 'null']) {
      await writeFile(join(folder, name), text)
      expect(await tokens.get('k')).toBeUndefined()
    }
  })

  it('are not lost to a process that died while it had its turn', async () => {
    const tokens = fileTokens(folder)
    await tokens.set('k', {})
    const [name = ''] = await readdir(folder)
    const lock = join(folder, name.replace('.json', '.lock'))
    await writeFile(lock, '')
    const long = new Date(Date.now() - 60_000)
    await utimes(lock, long, long)
    expect(await tokens.exclusively('k', () => Promise.resolve(7))).toBe(7)
    expect(await readdir(folder)).toEqual([name])
  })

  it('that cannot be written are told of', async () => {
    await writeFile(join(folder, 'file'), '')
    await expect(fileTokens(join(folder, 'file')).set('k', {})).rejects.toThrow(/ENOTDIR|EEXIST/)
  })

  it('serve sign-in as those in memory do', async () => {
    const world = createWorld()
    await using _ = await world.connect(world.signIn({ tokens: fileTokens(folder) }))
    await using client = await world.connect(world.signIn({ tokens: fileTokens(folder) }))
    world.valid.clear()
    await client.callTool('book')
    expect(world.to(`${ISSUER}/authorize`)).toHaveLength(1)
    expect(world.to(`${ISSUER}/token`)).toHaveLength(2)
  })
})

describe('processes that share the files', () => {
  const script = join(root, 'test/authorization/counting.ts')
  const run = promisify(execFile)

  it('take turns on Node, Deno and Bun [M-ASEC-009]', async () => {
    const count = join(folder, 'count')
    await writeFile(count, '0')
    const programs: [string, string[]][] = [
      [process.execPath, ['--import', 'tsx', script]],
      [
        deno(),
        ['run', '--quiet', '--no-prompt', '--allow-read', '--allow-write', '--allow-env', script],
      ],
      [bun(), [script]],
    ]
    await Promise.all(
      programs.map(([program, args]) => run(program, [...args, folder], { cwd: root })),
    )
    // Each added one ten times, reading and writing in turns of its own
    expect(await readFile(count, 'utf8')).toBe('30')
  })
})
