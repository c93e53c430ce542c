// Whether child processes are left after a program closes them, or is ended by a signal.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, describe, expect, it } from 'vitest'
import { nodeCommand } from '../../node-program.ts'
import { PATIENCE } from '../../patience.ts'
import { root } from '../../root.ts'
import { bun, deno } from '../binaries.ts'

const hosts: Record<string, () => string[]> = {
  Node: () => nodeCommand('test/runtimes/node/host.ts'),
  Deno: () => [
    deno(),
    'run',
    '--quiet',
    '--no-prompt',
    '--no-lock',
    '--node-modules-dir=manual',
    '-A',
    'test/runtimes/node/host.ts',
  ],
  Bun: () => [bun(), '--no-install', 'test/runtimes/node/host.ts'],
}

const stubborn = `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)`
const said = `console.log(JSON.stringify({ pid: process.pid }))`
/** A child that ends with its stdin, and leaves behind what ends by nothing but SIGKILL. */
const leaving = `process.stdin.on('end', () => process.exit()).resume()
  require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(`${stubborn}; ${said}`)}], { stdio: 'inherit' })`

const started = new Set<number>()
afterEach(() => {
  for (const pid of started) if (runs(pid)) process.kill(pid, 'SIGKILL')
  started.clear()
})

/** Starts a program that starts a child; returns its output, and the pid that the child prints. */
async function start(runtime: string, script: string, then: string) {
  const [command = '', ...args] = hosts[runtime]!()
  const host = spawn(command, [...args, process.execPath, script, then], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const output = { text: '' }
  host.stdout.setEncoding('utf8').on('data', (chunk: string) => (output.text += chunk))
  await expect.poll(() => output.text, PATIENCE).toMatch(/"pid":\d+/)
  const pid = Number(/"pid":(\d+)/.exec(output.text)?.[1])
  started.add(pid).add(host.pid!)
  return { host, pid, output }
}

/** Whether a process runs: one that has ended and was not waited for does not count. */
function runs(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
  return /^[^Z]/.test(stdout)
}

/** How a program ended: by a signal, or with the status that shells give for one. */
async function end(host: ChildProcess): Promise<string | number | null> {
  const [code, signal] = (await once(host, 'exit')) as [number | null, string | null]
  return signal ?? code
}

describe.each(Object.keys(hosts))('stdioClient on %s', (runtime) => {
  it('close ends what a child has left behind and that ignores SIGTERM [S021]', async () => {
    const { host, pid, output } = await start(runtime, leaving, 'close')
    const ended = end(host)
    await expect.poll(() => output.text, PATIENCE).toContain('closed')
    expect(runs(pid)).toBe(false)
    // Nothing that ends children with the program keeps it
    expect(await ended).toBe(0)
  })

  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGHUP', 129],
  ] as const)(
    '%s ends the program, and before it a child that ignores all else [S021]',
    async (signal, status) => {
      const { host, pid } = await start(runtime, `${stubborn}; ${said}`, 'wait')
      const ended = end(host)
      host.kill(signal)
      expect([signal, status]).toContain(await ended)
      await expect.poll(() => runs(pid), PATIENCE).toBe(false)
    },
  )

  it('a signal that the program itself listens for ends neither it nor its children [S021]', async () => {
    const { host, pid, output } = await start(runtime, `${stubborn}; ${said}`, 'listen')
    host.kill('SIGTERM')
    await expect.poll(() => output.text, PATIENCE).toContain('received')
    expect(runs(pid)).toBe(true)
    expect(runs(host.pid!)).toBe(true)
  })
})
