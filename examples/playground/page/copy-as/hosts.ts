/**
 * Entries for the configurations of hosts. They are the same as those of `edgewise install`.
 *
 * @see https://modelcontextprotocol.io/docs/develop/connect-local-servers
 */
import { stringify } from 'smol-toml'
import { bridgeProgram, toStartable } from '../../../../runtimes/node/cli/hosts/bridge-program.ts'
import {
  createHostEntry,
  type ConfiguredServer,
} from '../../../../runtimes/node/cli/hosts/entry.ts'
import { hostOf } from '../../../../runtimes/node/cli/hosts/host.ts'
import type { McpHostName } from '../../../../runtimes/node/cli/hosts/host-names.ts'
import { cleanName } from '../../../../runtimes/node/cli/hosts/server-name.ts'
import { variableHeaders, type ServerAddress } from './operation.ts'

/** An entry, and where it belongs. */
export interface HostConfiguration {
  /** The name of the host. */
  title: string
  /** The path of the user's file. */
  file: string
  /** The path of the file in a project, if there is one. */
  projectFile: string | undefined
  /** The contents of a file with only this entry. */
  text: string
  /** What the user has to do before the host uses the server. */
  next: string
}

/** The hosts, in the order in which they are shown. */
export const shownHosts: readonly McpHostName[] = [
  'claude-code',
  'claude-desktop',
  'cursor',
  'vscode',
  'codex',
]

/**
 * Creates the entry of a host. Values of headers are variables, or prompts of the host.
 *
 * @param platform The system of the user, as Node names it.
 */
export function hostConfiguration(
  host: McpHostName,
  server: ServerAddress,
  platform: 'darwin' | 'linux' | 'win32',
): HostConfiguration {
  const { title, next, format, section, userFile, projectFile } = hostOf(host)
  const name = cleanName(server.name) || 'server'
  const { entry, inputs } = createHostEntry(host, name, configuredServer(host, server, platform))
  const value = { [section]: { [name]: entry }, ...(inputs[0] && { inputs: [...inputs] }) }
  const separator = platform === 'win32' ? '\\' : '/'
  const home = platform === 'win32' ? '%USERPROFILE%' : '~'
  return {
    title,
    next,
    file: userFile({ platform, home, env: {}, cwd: '' }).join(separator),
    projectFile: projectFile?.join(separator),
    text: format === 'json' ? JSON.stringify(value, null, 2) : stringify(value).trim(),
  }
}

/** The server as a host uses it. A signed-in user signs in again in the host. */
function configuredServer(
  host: McpHostName,
  server: ServerAddress,
  platform: NodeJS.Platform,
): ConfiguredServer {
  const isSignedIn = server.access === 'sign-in'
  const variables = variableHeaders(isSignedIn ? { ...server, access: 'none' } : server)
  if (host === 'claude-desktop')
    return toStartable(bridgeProgram(server.url, plain(variables)), platform)
  // VS Code asks for values that are not variables
  return { url: server.url, headers: host === 'vscode' ? plain(variables) : variables }
}

/** Headers whose values the user has to replace: Claude Desktop knows no variables. */
function plain(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      value.replaceAll(/\$\{(\w+)\}/g, (_, variable: string) => variable),
    ]),
  )
}
