import { describe } from 'vitest'
import { createMemoryEventStorage } from '../../../src/events/memory-storage.ts'
import { eventStorageSuite } from '../../events/storage-suite.ts'
import { runLines } from '../../process.ts'
import { onWorkerd, testElsewhere, type Run } from '../elsewhere.ts'

const titles = Object.keys(
  eventStorageSuite(() => Promise.resolve({ storage: createMemoryEventStorage() })),
)

const flags = ['--no-remote', '--node-modules-dir=manual', '--no-prompt', '--no-lock']

const runtimes: [string, Run][] = [
  [
    'SQLite of node:sqlite, on Deno',
    (line) => runLines(['deno', 'run', ...flags, 'test/runtimes/events/node-sqlite.ts'], line),
  ],
  [
    'SQLite of bun:sqlite',
    (line) => runLines(['bun', '--no-install', 'test/runtimes/events/bun-sqlite.ts'], line),
  ],
  ['a Durable Object', onWorkerd('../events/storage-worker.ts')],
]

describe.each(runtimes)('The storage of events in %s', (_name, run) => {
  testElsewhere(run, titles)
})
