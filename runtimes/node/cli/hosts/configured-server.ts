/**
 * Converts a server that was given on the command line to an entry for a host's configuration.
 */
import { readFileSync, statSync } from 'node:fs'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { UsageError } from '../usage.ts'
import type { Options, Target } from '../arguments.ts'
import { bridgeProgram, toStartable } from './bridge-program.ts'
import type { ConfiguredServer, Program } from './entry.ts'
import type { McpHostName } from './host-names.ts'
import type { Machine, Scope } from './host.ts'
import { cleanName, nameOfUrl, requireName } from './server-name.ts'

/** Where a server is configured. */
export interface HostLocation {
  readonly host: McpHostName
  readonly scope: Scope
  readonly machine: Machine
}

/** A server and its options on the command line. */
interface ServerArguments {
  readonly target: Target
  readonly options: Pick<Options, 'env' | 'cwd' | 'headers'>
}

/** Converts the server of a command line to the form that the host can use. */
export function configuredServer(
  { target, options }: ServerArguments,
  { host, scope, machine }: HostLocation,
): ConfiguredServer {
  if ('command' in target) {
    const { env, cwd } = options
    const needsAbsolutePaths = scope === 'user' && cwd === undefined
    const { command, args } = needsAbsolutePaths ? withAbsolutePaths(target, machine.cwd) : target
    const folder = cwd === undefined ? undefined : resolve(machine.cwd, cwd)
    return toStartable({ command, args, env, cwd: folder }, machine.platform)
  }
  const headers = headersOf(options)
  if (host !== 'claude-desktop') return { url: target.url, headers }
  return toStartable(bridgeProgram(target.url, headers), machine.platform)
}

/** Returns the headers with capitalized names, such as `X-Api-Key`. */
export function headersOf({ headers }: Pick<Options, 'headers'>): Record<string, string> {
  return Object.fromEntries(
    Array.from(headers, ([name, value]) => [
      name.replaceAll(/(?<=^|-)[a-z]/g, (letter) => letter.toUpperCase()),
      value,
    ]),
  )
}

/** Makes the paths of files absolute, because a host starts programs in another folder. */
function withAbsolutePaths(
  { command, args }: Extract<Target, { command: string }>,
  cwd: string,
): Pick<Program, 'command' | 'args'> {
  const absolute = (word: string): string =>
    /^\.{1,2}[\\/]/.test(word) || isFile(resolve(cwd, word)) ? resolve(cwd, word) : word
  return {
    // A command without a slash is looked up in the PATH
    command: /[\\/]/.test(command) ? absolute(command) : command,
    args: args.map((word) => (word.startsWith('-') ? word : absolute(word))),
  }
}

/**
 * Returns the given name of a server. If none is given, derives a name from the server's URL or program.
 *
 * @throws {UsageError} If the given name is invalid, or no name can be derived.
 */
export function chooseServerName(target: Target, given: string | undefined, cwd: string): string {
  if (given !== undefined) return requireName(given)
  const derived = cleanName(
    'url' in target ? nameOfUrl(new URL(target.url)) : nameOfProgram(target, cwd),
  )
  if (derived !== '') return derived
  throw new UsageError('Specify a name for the server with "--name"')
}

/**
 * Returns the name of the package that contains the program's file. If there is no such file, returns the first argument
 * that is not an option.
 */
function nameOfProgram(
  { command, args }: Extract<Target, { command: string }>,
  cwd: string,
): string {
  const words = args.filter((word) => !word.startsWith('-'))
  const file = words.find((word) => isFile(resolve(cwd, word)))
  if (file !== undefined) return nameOfFile(resolve(cwd, file))
  if (isFile(resolve(cwd, command))) return nameOfFile(resolve(cwd, command))
  const [name = command] = words
  return name
}

/** Returns the name of the package that contains a file. If there is none, returns the name of the file. */
function nameOfFile(path: string): string {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const name = packageName(join(folder, 'package.json'))
    if (name !== undefined) return name
    if (folder === dirname(folder)) return basename(path, extname(path))
  }
}

function packageName(path: string): string | undefined {
  try {
    const { name } = JSON.parse(readFileSync(path, 'utf8')) as { name?: unknown }
    return typeof name === 'string' ? name : undefined
  } catch {
    return undefined
  }
}

/** Whether a path leads to a file. */
export function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
}
