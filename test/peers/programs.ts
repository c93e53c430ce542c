/**
 * The stdio servers of the peer tests as commands.
 */
import { renameSync } from 'node:fs'
import { join } from 'node:path'

import { buildSync } from 'esbuild'

import { root } from '../root.ts'
import type { Target } from './contract.ts'

/** The command that runs `servers/NAME.ts`: compiled first, so that it starts quickly. */
export function program(name: string, ...args: string[]): Target {
  const compiled = join(root, '.cache/peers', `${name}.mjs`)
  // Other test files may be starting it: it is written apart and put in its place at once.
  const outfile = `${compiled}.${process.pid}`
  buildSync({
    entryPoints: [join(root, 'test/peers/servers', `${name}.ts`)],
    outfile,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
  })
  renameSync(outfile, compiled)
  return { command: process.execPath, args: [compiled, ...args] }
}
