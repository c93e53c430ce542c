/**
 * Converts a server that was given on the command line to an entry for a host's configuration.
 */
import { readFileSync, statSync } from 'node:fs'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { UsageError } from '../usage.ts'
import type { Options, Target } from '../arguments.ts'
import type { HostedServer, Program } from './entry.ts'
import type { HostName } from './host-names.ts'
import type { Machine, Scope } from './host.ts'

/** The programs that are scripts on Windows, which only a shell can start. */
const WINDOWS_SCRIPTS = /^(?:npx|npm|pnpm|pnpx|yarn)$/i

/** Where a server is configured. */
export interface Place {
  readonly host: HostName
  readonly scope: Scope
  readonly machine: Machine
}

/** A server and its options on the command line. */
interface ServerArguments {
  readonly target: Target
  readonly options: Pick<Options, 'env' | 'cwd' | 'headers'>
}

/** The server of a command line, for one host. */
export function hostedServer(
  { target, options }: ServerArguments,
  { host, scope, machine }: Place,
): HostedServer {
  if ('command' in target) {
    const { env, cwd } = options
    const needsAbsolutePaths = scope === 'user' && cwd === undefined
    const { command, args } = needsAbsolutePaths ? withAbsolutePaths(target, machine.cwd) : target
    const folder = cwd === undefined ? undefined : resolve(machine.cwd, cwd)
    return startable({ command, args, env, cwd: folder }, machine.platform)
  }
  const headers = headersOf(options)
  if (host !== 'claude-desktop') return { url: target.url, headers }
  return startable(bridgeTo(target.url, headers), machine.platform)
}

/** The headers with their usual names, such as `X-Api-Key`. */
export function headersOf({ headers }: Pick<Options, 'headers'>): Record<string, string> {
  return Object.fromEntries(
    Array.from(headers, ([name, value]) => [
      name.replaceAll(/(?<=^|-)[a-z]/g, (letter) => letter.toUpperCase()),
      value,
    ]),
  )
}

/**
 * A program that connects to a URL. The configuration of Claude Desktop has only programs.
 *
 * @see https://modelcontextprotocol.io/docs/develop/connect-local-servers
 */
function bridgeTo(url: string, { Authorization, ...headers }: Record<string, string>): Program {
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
  // Other users of the machine can see arguments, but not variables. A bearer token is therefore passed in
  // a variable. The bridge reads all other headers from its arguments
  return { command: 'npx', args, env: token === undefined ? {} : { EDGEWISE_TOKEN: token } }
}

/**
 * On Windows, starts a script by the shell.
 *
 * @see https://code.claude.com/docs/en/mcp#option-3-add-a-local-stdio-server
 */
function startable(program: Program, platform: NodeJS.Platform): Program {
  const { command, args } = program
  if (platform !== 'win32' || !WINDOWS_SCRIPTS.test(command)) return program
  return { ...program, command: 'cmd', args: ['/c', command, ...args] }
}

/** Makes the paths of files absolute, because a host starts programs in another folder. */
function withAbsolutePaths(
  { command, args }: Extract<Target, { command: string }>,
  cwd: string,
): Pick<Program, 'command' | 'args'> {
  const absolute = (word: string): string =>
    /^\.{1,2}[\\/]/.test(word) || isFile(resolve(cwd, word)) ? resolve(cwd, word) : word
  return {
    // A bare word is looked up in the PATH
    command: /[\\/]/.test(command) ? absolute(command) : command,
    args: args.map((word) => (word.startsWith('-') ? word : absolute(word))),
  }
}

/** The name under which a host lists a server. */
const NAME = /^[A-Za-z][\w-]{0,63}$/

/**
 * The name of a server: the given name, or a name that is derived from the server.
 *
 * @throws {UsageError} If the given name is invalid, or no name can be derived.
 */
export function nameFor(target: Target, given: string | undefined, cwd: string): string {
  if (given !== undefined) return requireName(given)
  const derived = ('url' in target ? nameOfUrl(new URL(target.url)) : nameOfProgram(target, cwd))
    .replace(/^@[^/]*\//, '') // The scope of a package, such as "@example/"
    .replace(/(?<=.)@.*$/, '') // The version of a package, such as "@1.2.0"
    .replaceAll(/[^\w-]+/g, '-') // Characters that a name must not contain
    .replaceAll(/^[^A-Za-z]+|-+$/g, '') // A beginning that is not a letter, and hyphens at the end
    .slice(0, 64)
  if (NAME.test(derived)) return derived
  throw new UsageError('Specify a name for the server by "--name"')
}

/**
 * Checks the name of a server.
 *
 * @throws {UsageError} If a host could not use the name.
 */
export function requireName(name: string | undefined): string {
  if (name !== undefined && NAME.test(name)) return name
  throw new UsageError(
    `The name of a server must be a letter and up to 63 letters, digits, "-" and "_", not "${name ?? ''}"`,
  )
}

/**
 * The last label of a hostname that is neither its top-level domain nor generic, such as "linear" of
 * `mcp.linear.app`. Empty if no label is left, or if the hostname is an IP address.
 */
function nameOfUrl({ hostname }: URL): string {
  if (/^[\d.]+$|:/.test(hostname)) return ''
  const labels = hostname.split('.')
  if (labels.length === 1) return hostname
  return (
    labels.slice(0, -1).findLast((label) => !/^(?:mcp|api|www|com?|workers)$/.test(label)) ?? ''
  )
}

function nameOfProgram(
  { command, args }: Extract<Target, { command: string }>,
  cwd: string,
): string {
  const words = args.filter((word) => !word.startsWith('-'))
  const file = words.find((word) => isFile(resolve(cwd, word)))
  if (file !== undefined) return nameOfFile(resolve(cwd, file))
  if (isFile(resolve(cwd, command))) return nameOfFile(resolve(cwd, command))
  const [first = command] = words
  return first
}

/** The name of the package that contains a file, or else the name of the file. */
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
