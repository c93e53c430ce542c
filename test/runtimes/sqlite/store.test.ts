import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runLines } from '../../process.ts'
import { onWorkerd, testElsewhere, type Run } from '../elsewhere.ts'
import { faultsSuite } from './faults-suite.ts'
import { storeSuite } from '../../session/store-suite.ts'

const titles = Object.keys(
  storeSuite(() => Promise.reject(new Error('Only the titles count here'))),
)
const faults = Object.keys(faultsSuite(() => Promise.reject(new Error('Only titles'))))
const flags = ['--no-remote', '--node-modules-dir=manual', '--no-prompt', '--no-lock']

const runtimes: Record<string, Run> = {
  'node:sqlite of Deno': (line) =>
    runLines(['deno', 'run', ...flags, 'test/runtimes/sqlite/node-sqlite.ts'], line),
  'bun:sqlite': (line) =>
    runLines(['bun', '--no-install', 'test/runtimes/sqlite/bun-sqlite.ts'], line),
  'a Durable Object': onWorkerd('../sqlite/worker.ts'),
}

test('A database is shared by processes that write at the same time', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'edgewise-sqlite-'))
  const file = join(folder, 'shared.db')
  const counts: number[] = []
  const count = (line: string): number => counts.push(JSON.parse(line) as number)
  const command = ['bun', '--no-install', 'test/runtimes/sqlite/shared.ts', file]
  try {
    await Promise.all([1, 2, 3].map(() => runLines(command, count)))
  } finally {
    await rm(folder, { recursive: true })
  }
  expect(counts).toHaveLength(3)
  expect(Math.max(...counts)).toBe(300)
})

describe.each(Object.entries(runtimes))('The store in SQLite on %s', (_name, run) => {
  testElsewhere(run, titles)
})

describe.each([
  [
    'node:sqlite of Deno',
    ['deno', 'run', ...flags, '--allow-all', 'test/runtimes/sqlite/node-faults.ts'],
  ],
  ['bun:sqlite', ['bun', '--no-install', 'test/runtimes/sqlite/bun-faults.ts']],
])('The stores in SQLite of %s', (_name, command) => {
  testElsewhere((line) => runLines(command, line), faults)
})
