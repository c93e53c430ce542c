// Real processes that share a database, behind a proxy that gives each request to the next one.
import { spawn, type ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import { nodeCommand } from '../node-program.ts'
import { startProxy } from '../../examples/scale-out/proxy.ts'

/** One process. */
export interface DeployedProcess {
  readonly name: string
  readonly url: string
  /** What it printed. */
  readonly printed: string[]
  /** Ends it with a signal; resolves when it is gone. */
  end(signal: NodeJS.Signals): Promise<void>
}

/** Several processes behind one address. */
export interface Deployment {
  readonly url: string
  readonly processes: readonly DeployedProcess[]
}

/** Starts processes and a proxy, which end with the test. */
export async function deploy(count: number, url: string, schema: string): Promise<Deployment> {
  const names = Array.from({ length: count }, (_, n) => `p${n}`)
  const processes = await Promise.all(names.map((name) => start(name, url, schema)))
  const proxy = await startProxy(processes.map(({ url }) => new URL(url).origin))
  onTestFinished(() => proxy.close())
  return { url: `${proxy.origin}/mcp`, processes }
}

async function start(name: string, url: string, schema: string): Promise<DeployedProcess> {
  const [command, ...args] = nodeCommand('test/postgres/child.ts', url, schema, name)
  const running = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const exited = new Promise<void>((resolve) => running.once('exit', () => resolve()))
  const printed: string[] = []
  const own = await new Promise<string>((resolve, reject) => {
    readLines(running, (line) => {
      printed.push(line)
      if (line.startsWith('http://')) resolve(line)
    })
    void exited.then(() => reject(new Error(`"${name}" ended:\n${printed.join('\n')}`)))
  })
  const end = (signal: NodeJS.Signals): Promise<void> => {
    running.kill(signal)
    return exited
  }
  onTestFinished(() => end('SIGKILL'))
  return { name, url: own, printed, end }
}

function readLines({ stdout, stderr }: ChildProcess, receive: (line: string) => void): void {
  for (const input of [stdout, stderr]) {
    if (input) createInterface({ input }).on('line', receive)
  }
}
