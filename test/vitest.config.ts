// One vitest run holds every test of the project, in parts: https://vitest.dev/config/
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import manifest from '../package.json' with { type: 'json' }
import { built, database } from './folders.ts'
import { IN_PROCESS, PATIENCE } from './patience.ts'
import { LongestFirst } from './sequencer.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

const waiting = {
  // Only against hangs: a busy machine must not decide a test.
  testTimeout: 300_000,
  hookTimeout: 300_000,
  expect: { poll: PATIENCE },
}

/** Tests that start other programs, for which they mostly wait: more of them run at once than there are cores. */
const startsPrograms = { maxWorkers: 2 * availableParallelism(), sequence: { groupOrder: 0 } }
/** Tests that run in this process alone: each more worker loads all modules once more. */
const inProcess = { maxWorkers: availableParallelism(), sequence: { groupOrder: 1 } }

export default defineConfig({
  root,
  resolve: {
    // Tests that import the package by its name get the sources, so that no class exists twice.
    alias: Object.entries(manifest.exports)
      .filter(([, path]) => path.endsWith('.js'))
      .map(([entry, path]) => ({
        find: new RegExp(`^edgewise${entry.slice(1)}$`),
        replacement: root + path.replace('./dist/', '').replace(/\.js$/, '.ts'),
      })),
  },
  test: {
    reporters: ['default', './test/reporter.ts'],
    sequence: { sequencer: LongestFirst },
    // Transformed sources are reused by all projects and by later runs, until they or the lockfile change
    experimental: { fsModuleCache: true },
    coverage: { include: ['src/**/*.ts', 'runtimes/**/*.ts'] },
    projects: [
      {
        extends: true,
        test: {
          ...waiting,
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...built, ...database].map((folder) => `test/${folder}/**`),
          expect: { poll: IN_PROCESS },
          setupFiles: './test/timers.ts',
          pool: 'threads',
          isolate: false,
          ...inProcess,
        },
      },
      {
        extends: true,
        test: {
          ...waiting,
          name: 'built',
          include: built.map((folder) => `test/${folder}/**/*.test.ts`),
          exclude: database.map((folder) => `test/${folder}/**`),
          globalSetup: './test/build.ts',
          isolate: false,
          ...startsPrograms,
        },
      },
      {
        extends: true,
        test: {
          ...waiting,
          name: 'postgres',
          include: database.map((folder) => `test/${folder}/**/*.test.ts`),
          globalSetup: './test/postgres/setup.ts',
          isolate: false,
          ...startsPrograms,
        },
      },
    ],
  },
})
