// https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/security-considerations#token-theft
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createFileTokenStore, type Files } from '#internal/authorization'
import { nodeCommand } from '../../node-program.ts'
import { fileTokenStore } from '../../../runtimes/node/index.ts'
import { memoryTokenStore, type TokenStore } from '../../../src/authorization/index.ts'
import { root } from '../../root.ts'
import { bun, deno } from '../binaries.ts'
import { createWorld, ISSUER } from '../../authorization/world.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'edgewise-tokens-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

describe.each<[string, () => TokenStore]>([
  ['in memory', () => memoryTokenStore()],
  ['in files', () => fileTokenStore(join(folder, 'deep', 'tokens'))],
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
    const all = Array.from({ length: 5 }, (__, index) => tokens.withLock('k', () => work(index)))
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
    await tokens.withLock('a', () => tokens.withLock('b', () => Promise.resolve()))
  })
})

describe('tokens in files', () => {
  it('are readable by their owner only, and their names reveal nothing [L-AUTH-072] [M-ASEC-048]', async () => {
    const tokens = fileTokenStore(join(folder, 'tokens'))
    await tokens.set('token https://mcp.example/mcp', { accessToken: 'x' })
    const [name = ''] = await readdir(join(folder, 'tokens'))
    expect(name).toMatch(/^[\w-]{43}\.json$/)
    if (process.platform === 'win32') return
    expect((await stat(join(folder, 'tokens'))).mode & 0o777).toBe(0o700)
    expect((await stat(join(folder, 'tokens', name))).mode & 0o777).toBe(0o600)
  })

  it('that are broken count as none', async () => {
    const tokens = fileTokenStore(folder)
    await tokens.set('k', { accessToken: 'x' })
    const [name = ''] = await readdir(folder)
    for (const text of ['', '{"half', '[]', 'null']) {
      await writeFile(join(folder, name), text)
      expect(await tokens.get('k')).toBeUndefined()
    }
  })

  it('are not lost to a process that died while it had its turn', async () => {
    const tokens = fileTokenStore(folder)
    await tokens.set('k', {})
    const [name = ''] = await readdir(folder)
    const lock = join(folder, name.replace('.json', '.lock'))
    await writeFile(lock, '')
    const long = new Date(Date.now() - 60_000)
    await utimes(lock, long, long)
    expect(await tokens.withLock('k', () => Promise.resolve(7))).toBe(7)
    expect(await readdir(folder)).toEqual([name])
  })

  it('are worked on by one of several who find that a process died', async () => {
    const kept = new Map<string, { text: string; at: number }>()
    /** A file system, in memory, that takes its time to delete. */
    const files = (slowMs: number): Files => ({
      read: async (path) => kept.get(path)?.text,
      create: async (path, text) =>
        !kept.has(path) && kept.set(path, { text, at: Date.now() }).has(path),
      rename: async () => {},
      async remove(path) {
        await new Promise((resolve) => setTimeout(resolve, slowMs))
        kept.delete(path)
      },
      changedAt: async (path) => kept.get(path)?.at,
      touch: async () => {},
    })
    let lock = ''
    await createFileTokenStore(files(0), 'f').withLock('k', async () => {
      lock = [...kept.keys()][0] ?? ''
    })
    kept.set(lock, { text: 'dead', at: 0 })
    let busy = 0
    const work = async (): Promise<void> => {
      expect(++busy).toBe(1)
      await new Promise((resolve) => setTimeout(resolve, 50))
      busy--
    }
    await Promise.all(
      [0, 10, 20].map((ms) => createFileTokenStore(files(ms), 'f').withLock('k', work)),
    )
    expect([...kept.keys()]).toEqual([])
  })

  it('respect the lock of the process that took it over from a suspended one', async () => {
    const [sleeper, taker, third] = [0, 1, 2].map(() => fileTokenStore(folder))
    const order: string[] = []
    let lock = ''
    const gate = (): { open: () => void; opened: Promise<void> } => {
      let open = (): void => {}
      const opened = new Promise<void>((resolve) => (open = resolve))
      return { open: () => open(), opened }
    }
    const wake = gate()
    const done = gate()
    const slept = sleeper?.withLock('k', async () => {
      lock = join(folder, (await readdir(folder))[0] ?? '')
      await utimes(lock, new Date(0), new Date(0))
      const taken = taker?.withLock('k', async () => {
        order.push('taken')
        wake.open()
        await done.opened
        order.push('done')
      })
      await wake.opened
      return { taken }
    })
    const { taken } = (await slept) ?? {}
    const after = third?.withLock('k', async () => void order.push('third'))
    expect(await readdir(folder)).toHaveLength(1)
    done.open()
    await Promise.all([taken, after])
    expect(order).toEqual(['taken', 'done', 'third'])
  })

  it('that cannot be written are reported', async () => {
    await writeFile(join(folder, 'file'), '')
    await expect(fileTokenStore(join(folder, 'file')).set('k', {})).rejects.toThrow(
      /ENOTDIR|EEXIST/,
    )
  })

  it('serve sign-in as those in memory do', async () => {
    const world = createWorld()
    await using _ = await world.connect(world.signIn({ tokens: fileTokenStore(folder) }))
    await using client = await world.connect(world.signIn({ tokens: fileTokenStore(folder) }))
    world.valid.clear()
    await client.callTool('book')
    expect(world.to(`${ISSUER}/authorize`)).toHaveLength(1)
    expect(world.to(`${ISSUER}/token`)).toHaveLength(2)
  })
})

describe('a process that has its turn', () => {
  const script = join(root, 'test/runtimes/node/holding.ts')
  const lock = async (): Promise<string> => {
    const name = (await readdir(folder)).find((one) => one.endsWith('.lock'))
    return join(folder, name ?? '')
  }
  const programs: [string, () => [string, ...string[]]][] = [
    ['Node', () => nodeCommand(script, folder)],
    ['Bun', () => [bun(), script, folder]],
  ]

  it.each(programs)(
    'is waited for, but not once it was ended by Ctrl-C: %s',
    async (_name, program) => {
      const [command, ...args] = program()
      const holder = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
      await once(holder.stdout, 'data')
      let taken = false
      const waiting = fileTokenStore(folder).withLock('k', async () => void (taken = true))
      await new Promise((resolve) => setTimeout(resolve, 300))
      expect(taken).toBe(false)
      holder.kill('SIGINT')
      await once(holder, 'exit')
      // Its silence would not be noticed
      const far = new Date(Date.now() + 3_600_000)
      await utimes(await lock(), far, far).catch(() => {})
      await waiting
      expect((await readdir(folder)).filter((name) => name.includes('.lock'))).toEqual([])
    },
  )

  it.each(['elsewhere/99999999', 'x', ''])(
    'is waited for where it is unknown whether its process lives: "%s"',
    async (owner) => {
      await fileTokenStore(folder).withLock('k', async () => {
        await writeFile(await lock(), `id ${owner}`)
      })
      let taken = false
      const waiting = fileTokenStore(folder).withLock('k', async () => void (taken = true))
      await new Promise((resolve) => setTimeout(resolve, 300))
      expect(taken).toBe(false)
      await utimes(await lock(), new Date(0), new Date(0))
      await waiting
    },
  )
})

describe('processes that share the files', () => {
  const script = join(root, 'test/runtimes/node/counting.ts')
  const run = promisify(execFile)

  it('take turns on Node, Deno and Bun [M-ASEC-009]', async () => {
    const count = join(folder, 'count')
    await writeFile(count, '0')
    const rights = ['--no-prompt', '--allow-read', '--allow-write', '--allow-env']
    const programs: [string, ...string[]][] = [
      nodeCommand(script),
      [deno(), 'run', '--quiet', ...rights, script],
      [bun(), script],
    ]
    await Promise.all(
      programs.map(([program, ...args]) => run(program, [...args, folder], { cwd: root })),
    )
    // Each added one ten times, reading and writing in turns of its own
    expect(await readFile(count, 'utf8')).toBe('30')
  })
})
