// Runs the playground's Worker as `npm start` does, on a free port.
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { nodeCommand } from '../node-program.ts'
import { root } from '../root.ts'

/** A Worker that runs. */
export interface RunningWorker {
  url: string
  stop(): Promise<void>
}

/**
 * Starts `wrangler dev` on what was built before all tests; resolves when it says its address. Test
 * files that run at the same time share neither storage nor ports.
 */
export async function startWorker(): Promise<RunningWorker> {
  const storage = await mkdtemp(join(tmpdir(), 'edgewise-'))
  const own = ['--port', '0', '--ip', '127.0.0.1', '--inspector-port', '0', '--persist-to', storage]
  const [command, ...args] = nodeCommand('examples/playground/start.ts', ...own)
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()))
  const printed: string[] = []
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        printed.push(line)
        const found = /^Playground: (http:\S+)/.exec(line)?.[1]
        if (found) resolve(found)
      })
    }
    void ended.then(() => reject(new Error(`wrangler ended:\n${printed.join('\n')}`)))
  })
  return {
    url,
    async stop() {
      child.kill('SIGTERM')
      await ended
      await rm(storage, { recursive: true, force: true })
    },
  }
}
