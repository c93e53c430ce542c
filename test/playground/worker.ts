// Runs the playground's Worker as `npm start` does, on a free port.
import { execFile, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { root } from '../process.ts'

/** A Worker that runs. */
export interface RunningWorker {
  url: string
  stop(): Promise<void>
}

/** Builds what `npm start` builds and starts `wrangler dev`; resolves when it says its address. */
export async function startWorker(): Promise<RunningWorker> {
  await promisify(execFile)('npm', ['run', 'build'], { cwd: root })
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', 'examples/playground/start.ts', '--port', '0', '--ip', '127.0.0.1'],
    { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] },
  )
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
    },
  }
}
