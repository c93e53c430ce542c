// Runs the program `edgewise`: its commands in this process, or the program as it is built.
import { spawn, type ChildProcess } from 'node:child_process'
import { vi } from 'vitest'
import { runCommand } from '../../../../runtimes/node/cli/run.ts'
import { root } from '../../../root.ts'

/** The built program, and the words that start it. */
export const program: readonly string[] = [`${root}dist/runtimes/node/cli/main.js`]

/** What came of a command. */
export interface Outcome {
  code: number | null
  out: string
  err: string
}

/** A command that runs; `outcome` grows as it prints. */
export interface Running {
  child: ChildProcess
  outcome: Outcome
  /** Resolves when it has ended. */
  ended: Promise<Outcome>
}

/** Starts a command with these variables. */
export function startWith(env: NodeJS.ProcessEnv, ...words: readonly string[]): Running {
  const child = spawn(process.execPath, [...program, ...words], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const outcome: Outcome = { code: null, out: '', err: '' }
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (outcome.out += text))
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (outcome.err += text))
  const ended = new Promise<Outcome>((resolve) => {
    child.on('close', (code) => resolve(Object.assign(outcome, { code })))
  })
  return { child, outcome, ended }
}

/** Starts a command. */
export function start(...words: readonly string[]): Running {
  return startWith(process.env, ...words)
}

/** Runs the built program to its end. */
export function edgewise(...words: readonly string[]): Promise<Outcome> {
  return start(...words).ended
}

/** Runs a command in this process, one at a time: to start Node takes several times as long as most commands. */
export async function command(...words: readonly string[]): Promise<Outcome> {
  const outcome: Outcome = { code: null, out: '', err: '' }
  const capture = (stream: 'stdout' | 'stderr', key: 'out' | 'err') =>
    vi.spyOn(process[stream], 'write').mockImplementation((text) => {
      outcome[key] += String(text)
      return true
    })
  const captured = [capture('stdout', 'out'), capture('stderr', 'err')]
  try {
    outcome.code = await runCommand(words)
  } finally {
    for (const each of captured) each.mockRestore()
  }
  return outcome
}
