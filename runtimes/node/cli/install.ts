/**
 * `edgewise install` adds a server to the configuration of a host; `edgewise uninstall` removes it.
 */
import { homedir } from 'node:os'
import { isDeepStrictEqual } from 'node:util'
import { stringify } from 'smol-toml'
import type { JsonObject } from '../../../src/index.ts'
import type { Invocation, LocalInvocation, Options } from './arguments.ts'
import {
  ConfigurationError,
  readConfiguration,
  replaceConfiguration,
} from './hosts/configuration-file.ts'
import { configurationPath } from './hosts/configuration-path.ts'
import { addServer, readServers, removeServer } from './hosts/edit.ts'
import { createHostEntry, type ConfiguredServer, type HostEntry } from './hosts/entry.ts'
import type { McpHostName } from './hosts/host-names.ts'
import { hostOf, type Host, type Machine, type Scope } from './hosts/host.ts'
import { configuredServer, chooseServerName } from './hosts/configured-server.ts'
import { requireName } from './hosts/server-name.ts'
import { oneLine, print, printNotice } from './print.ts'
import { requireNoArguments } from './usage.ts'

/** The machine, user and folder of this process. */
export function thisMachine(): Machine {
  return { platform: process.platform, home: homedir(), env: process.env, cwd: process.cwd() }
}

/** Where and how a configuration is changed. */
export interface ChangeOptions {
  readonly host: McpHostName
  readonly scope: Scope
  readonly machine: Machine
  /** Whether to only compute the change, without storing it. */
  readonly dryRun: boolean
}

/** What a change of a configuration did, or would do. */
export interface Change {
  /** The path of the configuration. */
  readonly path: string
  /** Whether the text differs from the text before. */
  readonly changed: boolean
  /** The text of the configuration afterwards. */
  readonly text: string
  /** The path of the backup of the previous file; `undefined` if nothing was stored, or there was no file. */
  readonly backup: string | undefined
}

/**
 * Adds a server to the configuration of a host.
 *
 * @param options With `force`, replaces another server that has the same name.
 * @throws {ConfigurationError} If the configuration cannot be changed.
 * @throws {UsageError} If the host does not support an option of the server.
 */
export async function addToHost(
  name: string,
  server: ConfiguredServer,
  options: ChangeOptions & { readonly force: boolean },
): Promise<Change & HostEntry> {
  const { host, force } = options
  const { title } = hostOf(host)
  const converted = createHostEntry(host, name, server)
  const change = await changeConfiguration(options, (path, text, hostFormat) => {
    const existing = readServers(path, text, hostFormat).get(name)
    if (isDeepStrictEqual(JSON.stringify(existing), JSON.stringify(converted.entry))) return text
    if (existing !== undefined && !force) {
      throw new ConfigurationError(
        `${title} already has another server "${name}": choose a name with "--name", or replace it with "--force"`,
      )
    }
    return addServer(path, text, hostFormat, name, converted.entry, converted.inputs)
  })
  return { ...change, ...converted }
}

/**
 * Removes a server from the configuration of a host.
 *
 * @throws {ConfigurationError} If the configuration cannot be changed, or has no such server.
 */
export async function removeFromHost(name: string, options: ChangeOptions): Promise<Change> {
  return changeConfiguration(options, (path, text, hostFormat) => {
    const servers = readServers(path, text, hostFormat)
    if (!servers.has(name)) {
      const names = servers.size > 0 ? `: it has ${[...servers.keys()].join(', ')}` : ''
      throw new ConfigurationError(
        `${hostOf(options.host).title} has no server "${name}" in "${path}"${names}`,
      )
    }
    return removeServer(path, text, hostFormat, name)
  })
}

/** Edits the configuration of a host, and stores it unless nothing has changed or `dryRun` is set. */
async function changeConfiguration(
  { host, scope, machine, dryRun }: ChangeOptions,
  edit: (path: string, text: string, hostFormat: Host) => string,
): Promise<Change> {
  const path = configurationPath(host, scope, machine)
  const file = await readConfiguration(path)
  const text = edit(path, file.text, hostOf(host))
  if (text === file.text || dryRun) {
    return { path, text, changed: text !== file.text, backup: undefined }
  }
  // Only the user may read the user's file, because it may contain secrets. The project's file is shared
  const mode = scope === 'user' ? 0o600 : 0o644
  const backup = await replaceConfiguration(file, text, { mode })
  return { path, text, changed: true, backup }
}

/** What `edgewise install` adds to hosts. */
interface Addition extends Pick<Invocation, 'target'> {
  readonly options: Pick<
    Options,
    'clients' | 'name' | 'scope' | 'dryRun' | 'force' | 'env' | 'cwd' | 'headers'
  >
}

/**
 * `edgewise install`: adds a server to hosts, and prints what the user has to do next.
 *
 * @throws {UsageError} If a host does not support an option.
 * @throws {ConfigurationError} If the configuration of a host cannot be changed. The server has then already been
 *   added to the hosts that precede this host in the list.
 */
export async function install(invocation: Invocation): Promise<number> {
  requireNoArguments(invocation.commandArguments)
  await addToHosts(invocation, thisMachine())
  return 0
}

/**
 * Adds a server to hosts, and prints what the user has to do next.
 *
 * @throws {UsageError} If a host does not support an option.
 * @throws {ConfigurationError} If the configuration of a host cannot be changed. The server has then already been
 *   added to the hosts that precede this host in the list.
 */
export async function addToHosts(addition: Addition, machine: Machine): Promise<void> {
  const { target, options } = addition
  const { clients, dryRun, scope, force } = options
  const name = chooseServerName(target, options.name, machine.cwd)
  for (const host of clients) {
    const { title, next, format, section } = hostOf(host)
    const server = configuredServer(addition, { host, scope, machine })
    const change = await addToHost(name, server, { host, scope, machine, dryRun, force })
    const { path, changed, inputs, plainTextNames, entry, backup } = change
    if (dryRun) {
      printNotice(`Without --dry-run, "${path}" would contain:`)
      print(fragment(format, { [section]: { [name]: entry }, ...(inputs[0] && { inputs }) }))
      continue
    }
    if (!changed) {
      print(`${title} already has "${name}" in ${oneLine(path)}`)
      continue
    }
    print(`Added "${name}" to ${title} in ${oneLine(path)}`)
    if (backup !== undefined) printNotice(`Saved the previous file as "${backup}"`)
    if (inputs.length > 0) {
      const names = inputs.map(({ description }) => description).join(', ')
      printNotice(`${title} asks for these values when it starts the server: ${names}`)
    }
    if (plainTextNames.length > 0) {
      printNotice(`Warning: the file contains the plain text of: ${plainTextNames.join(', ')}`)
    }
    printNotice(next)
  }
}

/**
 * `edgewise uninstall`: removes a server from hosts.
 *
 * @throws {UsageError} If no name is specified.
 * @throws {ConfigurationError} If a configuration cannot be changed, or has no such server.
 */
export async function uninstall({ commandArguments, options }: LocalInvocation): Promise<number> {
  const [word, ...others] = commandArguments
  requireNoArguments(others)
  const name = requireName(word)
  const machine = thisMachine()
  const { scope, dryRun } = options
  for (const host of options.clients) {
    const { title } = hostOf(host)
    const change = await removeFromHost(name, { host, scope, machine, dryRun })
    const action = dryRun ? 'Without --dry-run, would remove' : 'Removed'
    print(`${action} "${name}" from ${title} in ${oneLine(change.path)}`)
    if (change.backup !== undefined) printNotice(`Saved the previous file as "${change.backup}"`)
  }
  return 0
}

/** Formats a part of a configuration, for the terminal. */
function fragment(format: Host['format'], value: JsonObject): string {
  return format === 'json' ? JSON.stringify(value, null, 2) : stringify(value).trim()
}
