// Runs programs for tests: examples, blocks of the README and the portable suite elsewhere.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { nodeCommand } from './node-program.ts'
import { root } from './root.ts'
import { bun, deno } from './runtimes/binaries.ts'

/**
 * Turns words that begin with `deno`, `bun`, `tsx` or `node` into what to spawn on this machine. For
 * `tsx`, a program is compiled first.
 */
export function commandOf([program, ...args]: readonly string[]): [string, ...string[]] {
  switch (program) {
    case 'deno':
      return [deno(), ...args]
    case 'bun':
      return [bun(), ...args]
    case 'node':
      return [process.execPath, ...args]
    case 'tsx':
      return nodeCommand(args[0] ?? '', ...args.slice(1))
    default:
      throw new Error(`Unknown program "${program}"`)
  }
}

/**
 * Runs a program in the package's folder, giving each line that it prints to `line`; rejects unless
 * it ends with code 0 within 4 minutes.
 */
export function runLines(words: readonly string[], line: (text: string) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const [command, ...args] = commandOf(words)
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
    const timer = setTimeout(() => child.kill('SIGKILL'), 240_000)
    createInterface({ input: child.stdout }).on('line', line)
    createInterface({ input: child.stderr }).on('line', line)
    child.on('error', reject)
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      if (code === 0) resolve()
      else reject(new Error(`"${words.join(' ')}" ended with ${signal ?? `code ${code}`}`))
    })
  })
}

/** Runs a program like {@link runLines}; the rejection carries what it printed. */
export async function runToEnd(words: readonly string[]): Promise<void> {
  const printed: string[] = []
  await runLines(words, (line) => printed.push(line)).catch((error: Error) => {
    throw new Error([error.message, ...printed].join('\n'))
  })
}
