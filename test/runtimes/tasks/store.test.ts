import { describe, it } from 'vitest'
import { createMemoryTaskStore } from '../../../src/tasks/store.ts'
import { runLines } from '../../process.ts'
import { onWorkerd, testElsewhere, type Run } from '../elsewhere.ts'
import { taskRecordStoreSuite, taskStoreSuite } from '../../tasks/store-suite.ts'

const memory = () => Promise.resolve({ store: createMemoryTaskStore() })
const all = Object.entries(taskStoreSuite(memory))

describe('The store of tasks in memory', () => {
  it.each(all)('%s [M-TASK-072]', (_name, run) => run())
})

const flags = ['--no-remote', '--node-modules-dir=manual', '--no-prompt', '--no-lock']

const whole = all.map(([title]) => title)
const single = Object.keys(taskRecordStoreSuite(memory))

const runtimes: [string, string[], Run][] = [
  [
    'SQLite of node:sqlite, on Deno',
    whole,
    (line) => runLines(['deno', 'run', ...flags, 'test/runtimes/tasks/node-sqlite.ts'], line),
  ],
  [
    'SQLite of bun:sqlite',
    whole,
    (line) => runLines(['bun', '--no-install', 'test/runtimes/tasks/bun-sqlite.ts'], line),
  ],
  ['a Durable Object', single, onWorkerd('../tasks/store-worker.ts')],
]

describe.each(runtimes)('The store of tasks in %s', (_name, titles, run) => {
  testElsewhere(run, titles, ' [M-TASK-072]')
})
