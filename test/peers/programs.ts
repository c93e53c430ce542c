/**
 * The stdio servers of the peer tests as commands.
 */
import { nodeCommand } from '../node-program.ts'
import type { Target } from './contract.ts'

/** The command that runs `servers/NAME.ts`. */
export function program(name: string, ...args: string[]): Target {
  const [command, ...words] = nodeCommand(`test/peers/servers/${name}.ts`, ...args)
  return { command, args: words }
}
