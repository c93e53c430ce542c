/**
 * The stdio servers of the peer tests as commands.
 */
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

import type { Target } from './contract.ts'

const tsx = createRequire(import.meta.url).resolve('tsx')

/** The command that runs `servers/NAME.ts`, whatever the folder that it is started in. */
export function program(name: string): Target {
  const file = fileURLToPath(new URL(`servers/${name}.ts`, import.meta.url))
  return { command: process.execPath, args: ['--import', tsx, file] }
}
