import { beforeAll, describe, expect, it } from 'vitest'
import { createMemoryTaskStore } from '../../src/tasks/index.ts'
import { bundleWorker, startWorker } from '../cloudflare/workerd.ts'
import { runLines } from '../process.ts'
import type { Result } from '../runtimes/harness.ts'
import { taskKeeperSuite, taskStoreSuite } from './store-suite.ts'

const memory = () => Promise.resolve({ store: createMemoryTaskStore() })
const all = Object.entries(taskStoreSuite(memory))

describe('The store of tasks in memory', () => {
  it.each(all)('%s [M-TASK-072]', (_name, run) => run())
})

const flags = ['--no-remote', '--node-modules-dir=manual', '--no-prompt', '--no-lock']

const whole = all.map(([title]) => title)
const single = Object.keys(taskKeeperSuite(memory))

type Run = (line: (text: string) => void) => Promise<void>
const runtimes: [string, string[], Run][] = [
  [
    'SQLite of node:sqlite, on Deno',
    whole,
    (line) => runLines(['deno', 'run', ...flags, 'test/tasks/node-sqlite.ts'], line),
  ],
  [
    'SQLite of bun:sqlite',
    whole,
    (line) => runLines(['bun', '--no-install', 'test/tasks/bun-sqlite.ts'], line),
  ],
  [
    'a Durable Object',
    single,
    async (line) => {
      const workerd = await startWorker(await bundleWorker('../tasks/store-worker.ts'))
      const printed = await (await workerd.get('/')).text()
      for (const each of printed.split('\n')) line(each)
      await workerd.stop()
    },
  ],
]

describe.each(runtimes)('The store of tasks in %s', (_name, titles, run) => {
  const results = new Map<string, Result>()
  const printed: string[] = []

  beforeAll(async () => {
    await run((line) => {
      printed.push(line)
      const result = JSON.parse(line) as Result
      results.set(result.name, result)
    })
  }, 120_000)

  it.each(titles)('%s [M-TASK-072]', (title) => {
    const result = results.get(title)
    expect(result, printed.join('\n')).toBeDefined()
    if (result?.error !== undefined) throw new Error(result.error)
  })
})
