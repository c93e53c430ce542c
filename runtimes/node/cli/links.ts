/**
 * `edgewise links`: prints badges for the README of a server. Users click a badge to add the server to their host.
 */
import type { JsonObject } from '../../../src/index.ts'
import type { Invocation } from './arguments.ts'
import { createHostEntry, type ConfiguredServer } from './hosts/entry.ts'
import { headersOf, isFile, chooseServerName } from './hosts/configured-server.ts'
import { print } from './print.ts'
import { requireNoArguments, UsageError } from './usage.ts'

/** The links that add a server to hosts. */
export interface InstallLinks {
  /** The link that opens Cursor. */
  readonly cursor: string
  /** An https URL that leads to the link for Cursor, because GitHub removes links with other schemes. */
  readonly cursorWeb: string
  /** The link that opens VS Code. */
  readonly vscode: string
  /** An https URL that leads to the link for VS Code. */
  readonly vscodeWeb: string
}

/**
 * Creates the links. They do not contain the values of headers and variables, because the links are public. VS Code
 * asks the user for these values, and Cursor reads them from environment variables.
 *
 * @see https://cursor.com/docs/mcp/install-links
 * @see https://code.visualstudio.com/api/extension-guides/ai/mcp#create-an-mcp-installation-url
 */
export function installLinks(name: string, server: ConfiguredServer): InstallLinks {
  const { entry } = createHostEntry('cursor', name, withVariables(server))
  const config = Buffer.from(JSON.stringify(entry)).toString('base64')
  const query = `name=${encodeURIComponent(name)}&config=${encodeURIComponent(config)}`
  const vscode = `vscode:mcp/install?${encodeURIComponent(JSON.stringify(vscodeConfig(name, server)))}`
  return {
    cursor: `cursor://anysphere.cursor-deeplink/mcp/install?${query}`,
    cursorWeb: `https://cursor.com/en/install-mcp?${query}`,
    vscode,
    vscodeWeb: `https://insiders.vscode.dev/redirect?url=${encodeURIComponent(vscode)}`,
  }
}

/** Formats the links as badges. */
export function badges({ cursorWeb, vscodeWeb }: InstallLinks): string {
  const cursor = 'https://cursor.com/deeplink/mcp-install-dark.svg'
  const vscode = 'https://img.shields.io/badge/Install_in-VS_Code-0098FF'
  return [
    `[![Install in Cursor](${cursor})](${cursorWeb})`,
    `[![Install in VS Code](${vscode})](${vscodeWeb})`,
  ].join('\n')
}

/** `edgewise links`: prints the badges. With `--json`, prints the links. */
export async function links({ target, options, commandArguments }: Invocation): Promise<number> {
  requireNoArguments(commandArguments)
  const name = chooseServerName(target, options.name, process.cwd())
  const server: ConfiguredServer =
    'url' in target
      ? { url: target.url, headers: headersOf(options) }
      : { ...target, env: options.env, cwd: options.cwd }
  if ('command' in server) requirePublished(server.command, server.args)
  const created = installLinks(name, server)
  print(options.json ? JSON.stringify(created, null, 2) : badges(created))
  return 0
}

/** Rejects a program that is a file of this machine, because other users do not have it. */
function requirePublished(command: string, args: readonly string[]): void {
  const localFile = [command, ...args].find((word) => isFile(word))
  if (localFile === undefined) return
  throw new UsageError(
    `"${localFile}" is a file of this machine: specify how users start the server, such as "-- npx -y my-server"`,
  )
}

/** Replaces the value of each header or variable with a reference to an environment variable. */
function withVariables(server: ConfiguredServer): ConfiguredServer {
  if ('command' in server) return { ...server, env: mapValues(server.env, (name) => `\${${name}}`) }
  return {
    ...server,
    headers: mapValues(server.headers, (name, value) => {
      if (value.includes('${')) return value
      const [scheme = ''] = /^\S+ (?=\S)/.exec(value) ?? []
      const variable = name === 'Authorization' ? 'TOKEN' : name.toUpperCase().replaceAll('-', '_')
      return `${scheme}\${${variable}}`
    }),
  }
}

/** What VS Code reads from a link: a server with its name and inputs. */
function vscodeConfig(name: string, server: ConfiguredServer): JsonObject {
  const { entry, inputs } = createHostEntry('vscode', name, server)
  return { name, ...entry, ...(inputs.length > 0 && { inputs }) }
}

function mapValues(
  values: Readonly<Record<string, string>>,
  map: (name: string, value: string) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(name, value)]))
}
