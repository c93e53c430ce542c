// One vitest run holds every test of the project: https://vitest.dev/config/
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { PATIENCE } from './patience.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

export default defineConfig({
  root,
  resolve: {
    // Tests that import the package by its name get the sources, so that no class exists twice.
    alias: [
      {
        find: /^edgewise\/(browser|bun|cloudflare|deno|node|react)$/,
        replacement: `${root}runtimes/$1/index.ts`,
      },
      { find: /^edgewise\/([^/]+)$/, replacement: `${root}src/$1/index.ts` },
      { find: /^edgewise$/, replacement: `${root}src/index.ts` },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: './test/build.ts',
    // Most tests wait for other programs, so that one worker would leave a small machine idle.
    maxWorkers: '100%',
    reporters: ['default', './test/reporter.ts'],
    // Only against hangs: a busy machine must not decide a test.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: PATIENCE },
    coverage: { include: ['src/**/*.ts', 'runtimes/**/*.ts'] },
  },
})
