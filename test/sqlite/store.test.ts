import { describe } from 'vitest'
import { runLines } from '../process.ts'
import { onWorkerd, testElsewhere, type Run } from '../runtimes/elsewhere.ts'
import { storeSuite } from '../session/store-suite.ts'

const titles = Object.keys(
  storeSuite(() => Promise.reject(new Error('Only the titles count here'))),
)
const flags = ['--no-remote', '--node-modules-dir=manual', '--no-prompt', '--no-lock']

const runtimes: Record<string, Run> = {
  'node:sqlite of Deno': (line) =>
    runLines(['deno', 'run', ...flags, 'test/sqlite/node-sqlite.ts'], line),
  'bun:sqlite': (line) => runLines(['bun', '--no-install', 'test/sqlite/bun-sqlite.ts'], line),
  'a Durable Object': onWorkerd('../sqlite/worker.ts'),
}

describe.each(Object.entries(runtimes))('The store in SQLite on %s', (_name, run) => {
  testElsewhere(run, titles)
})
