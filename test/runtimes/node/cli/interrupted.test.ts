// Commands whose end comes early: by a signal, a closed pipe, or the end of what they talk to.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nodeCommand } from '../../../node-program.ts'
import { serve } from '../../../../runtimes/node/index.ts'
import type { HttpServer } from '../../../../src/transport/index.ts'
import { PATIENCE } from '../../../patience.ts'
import { command, program, start } from './run.ts'
import { makeServer } from './server.ts'

const stubborn = ['--', ...nodeCommand('test/runtimes/node/cli/stubborn.ts')]
let http: HttpServer

beforeAll(async () => {
  http = await serve(makeServer())
})
afterAll(() => http.close())

/** The pid that the program printed, once it hangs. */
async function hanging(outcome: { err: string }): Promise<number> {
  await expect.poll(() => outcome.err, PATIENCE).toMatch(/pid \d+ hangs/)
  return Number(/pid (\d+)/.exec(outcome.err)?.[1])
}

describe('a signal', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('%s ends a call with %i, and the program that it started', async (signal, status) => {
    const { child, outcome, ended } = start('call', 'hang', ...stubborn)
    const pid = await hanging(outcome)
    child.kill(signal)
    expect(await ended).toMatchObject({ code: status, out: '' })
    expect(outcome.err).toBe(`pid ${pid} hangs\n`)
    expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  })

  it('ends a bridge with 0, and the program behind it', async () => {
    const { child, outcome, ended } = start('bridge', ...stubborn)
    await expect.poll(() => outcome.out, PATIENCE).toContain('/mcp\n')
    const call = start('call', outcome.out.trim(), 'hang')
    const pid = await hanging(outcome)
    child.kill('SIGTERM')
    expect(await ended).toMatchObject({ code: 0 })
    expect(await call.ended).toMatchObject({ out: '' })
    expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  })
})

describe('a program that ends', () => {
  it('ends the bridge to it with 3 and the reason', async () => {
    const { outcome, ended } = start('bridge', ...stubborn)
    await expect.poll(() => outcome.out, PATIENCE).toContain('/mcp\n')
    const called = await command('call', outcome.out.trim(), 'die')
    expect(called.code).not.toBe(0)
    expect(await ended).toMatchObject({ code: 3 })
    expect(outcome.err).toContain('ended with code 4')
  })
})

describe('output that is not read', () => {
  /** Runs a command whose output is read to its first line, or goes to a file. */
  async function run(out: 'pipe' | number, ...words: string[]) {
    const child = spawn(process.execPath, [...program, ...words], {
      stdio: ['ignore', out, 'pipe'],
    })
    let err = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (err += text))
    child.stdout?.once('data', () => child.stdout?.destroy())
    const [code] = (await once(child, 'close')) as [number | null]
    return { code, err }
  }

  it('is not an error if a pipe is closed, as by head', async () => {
    expect(await run('pipe', 'call', http.url, 'long')).toEqual({ code: 0, err: '' })
    expect(await run('pipe', 'call', http.url, 'long', '--json')).toEqual({ code: 0, err: '' })
  })

  it('ends a command that runs until its reader leaves', async () => {
    const listening = run('pipe', 'listen', http.url)
    let isOver = false
    void listening.then(() => (isOver = true))
    const change = () => command('call', http.url, 'change').then(() => isOver)
    await expect.poll(change, PATIENCE).toBe(true)
    expect((await listening).code).toBe(0)
  })

  it.runIf(process.platform === 'linux')(
    'is reported as an error when the disk is full (where /dev/full exists)',
    async () => {
      const { code, err } = await run(openSync('/dev/full', 'w'), 'call', http.url, 'long')
      expect(code).toBe(1)
      expect(err).toContain('Cannot print: ENOSPC')
      expect(err).not.toContain('at ')
    },
  )
})

describe.runIf(process.platform === 'linux')('at a terminal (that of script, on Linux)', () => {
  /** Answers the question of a tool with some keys. */
  async function answer(keys: string, revision: string) {
    const words = [process.execPath, ...program, 'call', http.url, 'ask', '--revision', revision]
    const child = spawn('script', ['-qfec', words.join(' '), '/dev/null'])
    let out = ''
    let asked = false
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text
      if (asked || !out.includes('optional): ')) return
      asked = true
      child.stdin.write(keys)
    })
    const [code] = (await once(child, 'close')) as [number | null]
    return { code, out }
  }

  it.each(['2026-07-28', '2025-06-18'])(
    'a question of %s can be answered, left, and interrupted',
    async (revision) => {
      expect((await answer('s\r', revision)).out).toContain('Size s')
      expect((await answer('!\r', revision)).out).toContain('decline')
      const left = await answer('\u0004', revision)
      expect(left).toMatchObject({ code: 0 })
      expect(left.out).toContain('cancel')
      const interrupted = await answer('\u0003', revision)
      expect(interrupted).toMatchObject({ code: 130 })
      expect(interrupted.out).not.toContain('AbortError')
    },
  )
})
