/**
 * Converts a server to the format of a host's configuration.
 */
import type { JsonObject } from '../../../../src/index.ts'
import { UsageError } from '../usage.ts'
import type { PromptInput } from './edit.ts'
import type { McpHostName } from './host-names.ts'
import { hostOf } from './host.ts'

/**
 * A server in the configuration of a host. It is an endpoint, or a program. The values of its headers and variables
 * may refer to environment variables, such as `${NAME}`.
 */
export type ConfiguredServer =
  | { readonly url: string; readonly headers: Readonly<Record<string, string>> }
  | Program

/** A program that a host starts. */
export interface Program {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd?: string | undefined
}

/** A server in the format of a host. */
export interface HostEntry {
  readonly entry: JsonObject
  /** The values that the host asks the user for. */
  readonly inputs: readonly PromptInput[]
  /** The names of headers and variables whose values are stored as plain text. */
  readonly plainTextNames: readonly string[]
}

/** Matches a reference to an environment variable. */
const REFERENCE = /\$\{([A-Za-z_]\w*)\}/g

/**
 * Converts a server to the format of a host.
 *
 * @throws {UsageError} If the host does not support an option of the server.
 */
export function createHostEntry(
  host: McpHostName,
  name: string,
  server: ConfiguredServer,
): HostEntry {
  const supportsCwd = host === 'vscode' || host === 'codex'
  if ('command' in server && server.cwd !== undefined && !supportsCwd) {
    const { title } = hostOf(host)
    throw new UsageError(`${title} does not support "--cwd": use absolute paths in the command`)
  }
  if (host === 'codex') return codexEntry(server)
  const converter = createValueConverter(host, name)
  const entry = jsonEntry(host, server, converter)
  return { entry, inputs: converter.inputs, plainTextNames: converter.plainTextNames }
}

/**
 * Converts the values of headers and variables for a host. Collects the inputs for which the host asks the user, and the
 * names of values that are stored as plain text.
 */
interface ValueConverter {
  readonly convert: (values: Readonly<Record<string, string>>) => Record<string, string>
  readonly inputs: PromptInput[]
  readonly plainTextNames: string[]
}

/** Creates the converter of a server's values for one host. */
function createValueConverter(host: McpHostName, serverName: string): ValueConverter {
  const { title, reference } = hostOf(host)
  const inputs: PromptInput[] = []
  const plainTextNames: string[] = []
  function convertValue(name: string, value: string): string {
    if (value.search(REFERENCE) !== -1) {
      if (reference) return value.replace(REFERENCE, (_, variable: string) => reference(variable))
      throw new UsageError(`${title} does not replace variables such as "${value}"`)
    }
    if (host === 'vscode') return createInput(serverName, name, value, inputs)
    plainTextNames.push(name)
    return value
  }
  return {
    inputs,
    plainTextNames,
    convert: (values) =>
      Object.fromEntries(
        Object.entries(values).map(([name, value]) => [name, convertValue(name, value)]),
      ),
  }
}

/**
 * Replaces a value with an input of VS Code, but keeps the scheme of credentials, such as `Bearer`.
 *
 * @see https://code.visualstudio.com/docs/copilot/reference/mcp-configuration#_input-variables-for-sensitive-data
 */
function createInput(
  serverName: string,
  name: string,
  value: string,
  inputs: PromptInput[],
): string {
  const id = `${serverName}-${name.toLowerCase()}`
  const [scheme = ''] = /^(?:Bearer|Basic|Token) (?=\S)/i.exec(value) ?? []
  const schemeNote = scheme === '' ? '' : `, without "${scheme.trim()}"`
  const description = `${name} of ${serverName}${schemeNote}`
  inputs.push({ type: 'promptString', id, description, password: true })
  return `${scheme}\${input:${id}}`
}

/** The entry for a host whose configuration is JSON. */
function jsonEntry(
  host: McpHostName,
  server: ConfiguredServer,
  { convert }: ValueConverter,
): JsonObject {
  if ('command' in server) {
    const { command, args, cwd } = server
    const env = convert(server.env)
    return {
      // Claude Code and VS Code recommend the type. The other hosts do not document it
      ...((host === 'vscode' || host === 'claude-code') && { type: 'stdio' }),
      command,
      args: [...args],
      ...(cwd !== undefined && { cwd }),
      ...(Object.keys(env).length > 0 && { env }),
    }
  }
  const converted = convert(server.headers)
  const headers = Object.keys(converted).length > 0 && { headers: converted }
  if (host === 'windsurf') return { serverUrl: server.url, ...headers }
  const type = (host === 'vscode' || host === 'claude-code') && { type: 'http' }
  return { ...type, url: server.url, ...headers }
}

/**
 * Creates the entry for Codex, which is a TOML table. Codex does not replace variables inside values. Instead, the
 * entry has members that list the variables whose values Codex inserts.
 *
 * @see https://developers.openai.com/codex/mcp#configuration-options
 */
function codexEntry(server: ConfiguredServer): HostEntry {
  const values = 'command' in server ? server.env : server.headers
  const literals: [name: string, value: string][] = []
  const references: [name: string, variable: string][] = []
  let tokenVariable: string | undefined
  for (const [name, value] of Object.entries(values)) {
    const [, scheme, variable] = /^(Bearer )?\$\{([A-Za-z_]\w*)\}$/i.exec(value) ?? []
    if (value.search(REFERENCE) === -1) literals.push([name, value])
    else if (variable !== undefined && scheme === undefined) references.push([name, variable])
    else if (variable !== undefined && /^authorization$/i.test(name)) tokenVariable = variable
    else throw new UsageError(`Codex does not replace variables inside a value such as "${value}"`)
  }
  const plainTextNames = literals.map(([name]) => name)
  // Empty tables are omitted
  const table = (pairs: [string, string][]): JsonObject | false =>
    pairs.length > 0 && Object.fromEntries(pairs)
  if ('url' in server) {
    const headers = table(literals)
    const variables = table(references)
    const entry = {
      url: server.url,
      ...(tokenVariable !== undefined && { bearer_token_env_var: tokenVariable }),
      ...(headers && { http_headers: headers }),
      ...(variables && { env_http_headers: variables }),
    }
    return { entry, inputs: [], plainTextNames }
  }
  for (const [name, variable] of references) {
    if (name === variable) continue
    throw new UsageError(`Codex cannot rename a variable: use "--env '${name}=\${${name}}'"`)
  }
  const env = table(literals)
  const entry = {
    command: server.command,
    args: [...server.args],
    ...(server.cwd !== undefined && { cwd: server.cwd }),
    ...(references.length > 0 && { env_vars: references.map(([name]) => name) }),
    ...(env && { env }),
  }
  return { entry, inputs: [], plainTextNames }
}
