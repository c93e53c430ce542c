import { describe, inject } from 'vitest'
import { runLines } from '../../process.ts'
import { testElsewhere, type Run } from '../elsewhere.ts'
import { postgresSuite } from './suite.ts'

const flags = ['--no-remote', '--node-modules-dir=manual', '--no-prompt', '--no-lock', '-A']
const url = inject('databaseUrl')
const main = ['test/runtimes/postgres/main.ts', url]
const titles = Object.keys(postgresSuite(url).suite)

const runtimes: [string, Run][] = [
  ['Node', (line) => runLines(['tsx', ...main], line)],
  ['Deno', (line) => runLines(['deno', 'run', ...flags, ...main], line)],
  ['Bun', (line) => runLines(['bun', '--no-install', ...main], line)],
]

describe.each(runtimes)('The storage in Postgres, on %s', (_name, run) => {
  testElsewhere(run, titles)
})
