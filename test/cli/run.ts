// Runs the program `edgewise` as it is built.
import { spawn, type ChildProcess } from 'node:child_process'
import { root } from '../process.ts'

/** The built program, and the words that start it. */
export const program: readonly string[] = [`${root}dist/runtimes/node/cli/main.js`]

/** What came of a command. */
export interface Outcome {
  code: number | null
  out: string
  err: string
}

/** Starts a command; `out` grows as it prints. */
export function start(...words: readonly string[]): { child: ChildProcess; outcome: Outcome } {
  const child = spawn(process.execPath, [...program, ...words], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const outcome: Outcome = { code: null, out: '', err: '' }
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (outcome.out += text))
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (outcome.err += text))
  return { child, outcome }
}

/** Runs a command to its end. */
export async function edgewise(...words: readonly string[]): Promise<Outcome> {
  const { child, outcome } = start(...words)
  outcome.code = await new Promise((resolve) => child.on('close', resolve))
  return outcome
}
