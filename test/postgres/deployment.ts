// Real processes that share a database, behind a proxy that gives each request to the next one.
import { spawn, type ChildProcess } from 'node:child_process'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

const child = fileURLToPath(new URL('child.ts', import.meta.url))

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
  const gone = new Set<DeployedProcess>()
  const proxy = await startProxy(() => {
    return processes.filter((each) => !gone.has(each)).map((each) => each.url)
  })
  return {
    url: proxy,
    processes: processes.map((each) => ({
      ...each,
      async end(signal) {
        await each.end(signal)
        gone.add(each)
      },
    })),
  }
}

async function start(name: string, url: string, schema: string): Promise<DeployedProcess> {
  const args = ['--import', 'tsx', child, url, schema, name]
  const running = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
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

/** Starts a proxy that gives each request to the next process. */
async function startProxy(targets: () => readonly string[]): Promise<string> {
  let turn = 0
  const proxy: Server = createServer((incoming, outgoing) => {
    const all = targets()
    const { host, ...headers } = incoming.headers
    const target = new URL(all[turn++ % all.length] ?? '')
    const forwarded = request(target, { method: incoming.method, headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 500, response.headers)
      response.pipe(outgoing)
      response.on('error', () => outgoing.destroy())
      response.on('aborted', () => outgoing.destroy())
    })
    forwarded.on('error', () => {
      if (outgoing.headersSent) outgoing.destroy()
      else outgoing.writeHead(502).end()
    })
    outgoing.on('close', () => forwarded.destroy())
    incoming.pipe(forwarded)
    void host
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/mcp`
}
