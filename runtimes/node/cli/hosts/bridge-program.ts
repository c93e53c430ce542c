/**
 * Creates the command of the bridge: a program that connects to a URL, for hosts that can only start programs.
 */
import type { Program } from './entry.ts'

/** Matches programs that are scripts on Windows. Only a shell can start them there. */
const WINDOWS_SCRIPTS = /^(?:npx|npm|pnpm|pnpx|yarn)$/i

/**
 * Returns a program that connects to a URL. The configuration file of Claude Desktop, for example, can only list
 * programs.
 *
 * @see https://modelcontextprotocol.io/docs/develop/connect-local-servers
 */
export function bridgeProgram(
  url: string,
  { Authorization, ...headers }: Record<string, string>,
): Program {
  const [, token] = /^Bearer (\S+)$/i.exec(Authorization ?? '') ?? []
  const argumentHeaders = Object.entries({
    ...headers,
    ...(token === undefined && Authorization !== undefined && { Authorization }),
  })
  const args = [
    ...['-y', 'edgewise', 'bridge', url],
    ...(Authorization === undefined ? ['--sign-in'] : []),
    ...argumentHeaders.flatMap(([name, value]) => ['--header', `${name}: ${value}`]),
  ]
  // Other users of the machine can see arguments, but not environment variables. A bearer token is therefore
  // passed in the environment. The bridge reads all other headers from its arguments
  return { command: 'npx', args, env: token === undefined ? {} : { EDGEWISE_TOKEN: token } }
}

/**
 * Returns a program in a form that the platform can start. On Windows, a script runs through `cmd /c`.
 *
 * @see https://code.claude.com/docs/en/mcp#option-3-add-a-local-stdio-server
 */
export function toStartable(program: Program, platform: NodeJS.Platform): Program {
  const { command, args } = program
  if (platform !== 'win32' || !WINDOWS_SCRIPTS.test(command)) return program
  return { ...program, command: 'cmd', args: ['/c', command, ...args] }
}
