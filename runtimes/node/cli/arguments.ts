/**
 * Parses the command line with Node's own parser.
 *
 * @see https://nodejs.org/api/util.html#utilparseargsconfig
 */
import { parseUrl } from '#internal/patterns'
import { parseArgs } from 'node:util'
import type { compareCard } from '../../../src/cards/index.ts'
import type { Revision } from '../../../src/index.ts'
import type { McpHostName } from './hosts/host-names.ts'
import { requireHosts, type Scope } from './hosts/host.ts'
import { moduleProgram } from './hosts/module-program.ts'
import {
  headersOf,
  numberOf,
  pathOf,
  revisionOf,
  scopeOf,
  splitPair,
  webhookOf,
} from './option-values.ts'
import {
  checkOptions,
  isCommand,
  isLocalCommand,
  UsageError,
  type CommandName,
  type LocalCommandName,
} from './usage.ts'

/** A command that uses no server. */
export interface LocalInvocation {
  readonly command: LocalCommandName
  /** The arguments after the command. */
  readonly commandArguments: readonly string[]
  readonly options: Options
}

/** The parsed command, server and options. */
export interface Invocation {
  readonly command: Exclude<CommandName, LocalCommandName>
  readonly target: Target
  /** The arguments after the server. */
  readonly commandArguments: readonly string[]
  readonly options: Options
}

/** A parsed command line. If the server is given as a domain, the domain must still be resolved. */
export interface ParsedInvocation extends Omit<Invocation, 'target'> {
  readonly target: Target | { readonly domain: string }
}

/**
 * A server. It is an endpoint, or a program that communicates over stdio. If the endpoint was found in a card, `card` is
 * that card.
 */
export type Target =
  | { readonly url: string; readonly card?: Parameters<typeof compareCard>[0] }
  | { readonly command: string; readonly args: readonly string[] }

/** The options of all commands, for Node's parser. */
const optionDefinitions = {
  json: { type: 'boolean', default: false },
  sarif: { type: 'boolean', default: false },
  args: { type: 'string' },
  header: { type: 'string', multiple: true, default: [] as string[] },
  input: { type: 'string', multiple: true, default: [] as string[] },
  'dry-run': { type: 'boolean', default: false },
  token: { type: 'string' },
  'sign-in': { type: 'boolean', default: false },
  revision: { type: 'string' },
  'timeout-ms': { type: 'string' },
  env: { type: 'string', multiple: true, default: [] as string[] },
  cwd: { type: 'string' },
  resource: { type: 'string', multiple: true, default: [] as string[] },
  webhook: { type: 'string' },
  port: { type: 'string' },
  path: { type: 'string' },
  yes: { type: 'boolean', default: false },
  verbose: { type: 'boolean', default: false },
  client: { type: 'string', multiple: true, default: [] as string[] },
  name: { type: 'string' },
  scope: { type: 'string' },
  force: { type: 'boolean', default: false },
  output: { type: 'string' },
  help: { type: 'boolean', default: false },
  version: { type: 'boolean', default: false },
} as const

/** The validated options. */
export interface Options {
  readonly json: boolean
  readonly sarif: boolean
  readonly args: string | undefined
  readonly headers: Headers
  /** Values for the inputs of a card. */
  readonly inputs: Readonly<Record<string, string>>
  readonly dryRun: boolean
  readonly signIn: boolean
  readonly revision: Revision | undefined
  readonly timeoutMs: number | undefined
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string | undefined
  readonly resources: readonly string[]
  /** The public URL at which this program receives webhooks. */
  readonly webhook: string | undefined
  readonly port: number | undefined
  readonly path: string | undefined
  readonly yes: boolean
  readonly verbose: boolean
  /** The MCP hosts to configure, such as Claude Desktop. */
  readonly clients: readonly McpHostName[]
  /** The name of the server in the configuration of hosts. */
  readonly name: string | undefined
  readonly scope: Scope
  /** Whether to replace a server that already has the name, or an existing file. */
  readonly force: boolean
  /** The file to write. */
  readonly output: string | undefined
}

/**
 * Parses a command line.
 *
 * @returns The command to run; `{ help }` if help was requested, with the command if one was named;
 *   or `'version'`.
 * @throws {UsageError} If the command line is invalid.
 */
export function readArguments(
  argv: readonly string[],
): ParsedInvocation | LocalInvocation | { help: CommandName | undefined } | 'version' {
  const separator = argv.indexOf('--')
  const hasProgram = separator !== -1
  const ownArguments = hasProgram ? argv.slice(0, separator) : argv
  const { values, positionals, tokens } = parse(ownArguments)
  const [command, ...others] = positionals
  if (values.help || argv.length === 0) return { help: isCommand(command) ? command : undefined }
  if (values.version) return 'version'
  if (!isCommand(command)) {
    throw new UsageError(`Unknown command: "${command ?? ''}"`)
  }
  const takesModule = command === 'install' || command === 'links'
  const isForThisMachine = command === 'install' && values.scope !== 'project'
  const programOfModule =
    takesModule && !hasProgram ? moduleProgram(others[0], isForThisMachine) : undefined
  checkOptions(
    command,
    hasProgram || programOfModule ? 'program' : 'url',
    tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : [])),
  )
  if (isLocalCommand(command)) {
    const clients = command === 'uninstall' ? requireHosts(values.client) : []
    return { command, commandArguments: others, options: optionsOf(values, clients) }
  }
  const [target, commandArguments] = hasProgram
    ? [programTarget(argv.slice(separator + 1)), others]
    : [programOfModule ?? urlTarget(others[0], takesModule), others.slice(1)]
  const clients = command === 'install' ? requireHosts(values.client) : []
  // "install" and "links" write headers to files. With an empty token, the token in EDGEWISE_TOKEN is not written
  const options = optionsOf(takesModule ? { token: '', ...values } : values, clients)
  return { command, target, commandArguments, options }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: optionDefinitions,
      allowPositionals: true,
      tokens: true,
    })
  } catch (error) {
    // Shows only the first sentence of Node's message, because the other sentences give advice that does not apply
    throw new UsageError(error instanceof Error ? (error.message.split(/\.\s/)[0] ?? '') : '')
  }
}

type Values = ReturnType<typeof parse>['values']

/**
 * Validates the options.
 *
 * @throws {UsageError} If an option is invalid.
 */
function optionsOf(values: Values, clients: readonly McpHostName[]): Options {
  const { json, sarif, args, cwd, yes, verbose } = values
  return {
    json,
    sarif,
    args,
    headers: headersOf(values.header, values.token),
    inputs: Object.fromEntries(values.input.map((pair) => splitPair(pair, '=', '--input'))),
    dryRun: values['dry-run'],
    signIn: values['sign-in'],
    revision: revisionOf(values.revision),
    timeoutMs: numberOf(values['timeout-ms'], '--timeout-ms', 1, Number.MAX_SAFE_INTEGER),
    env: Object.fromEntries(values.env.map((pair) => splitPair(pair, '=', '--env'))),
    cwd,
    resources: values.resource,
    webhook: webhookOf(values.webhook),
    port: numberOf(values.port, '--port', 0, 65_535),
    path: pathOf(values.path),
    yes,
    verbose,
    clients,
    name: values.name,
    scope: scopeOf(values.scope),
    force: values.force,
    output: values.output,
  }
}

function programTarget([command, ...args]: readonly string[]): Target {
  if (command === undefined) throw new UsageError('A program must follow "--"')
  return { command, args }
}

/** Matches a domain, or a name of this machine, which may have a port. */
const DOMAIN = /^(?:(?:[\w-]+\.)+[a-z][a-z\d-]+|(?:localhost|127\.0\.0\.1)(?::\d+)?)$/i

/** Matches file names, because some of them look like a domain. A file that is a program must be given after `--`. */
const FILE_NAME = /\.(?:[cm]?[jt]sx?|py|rb|sh|exe|jar|php|pl|rs|go|json)$/i

/**
 * Reads a server that is given as a URL or a domain.
 *
 * @throws {UsageError} If the text is neither.
 */
function urlTarget(text: string | undefined, takesModule: boolean): ParsedInvocation['target'] {
  if (text === undefined) {
    const moduleHint = takesModule ? ' a module,' : ''
    throw new UsageError(`Specify a server: a URL, a domain,${moduleHint} or "-- program"`)
  }
  if (DOMAIN.test(text) && !FILE_NAME.test(text)) return { domain: text }
  if (!/^https?:$/.test(parseUrl(text)?.protocol ?? '')) {
    const problem = `"${text}" is not an HTTP URL: it must begin with "http://" or "https://"`
    // If the text is a host with a port, only the scheme is missing. Any other text may be a program or a tool
    if (/^[\w.-]+:\d+(?:\/|$)/.test(text))
      throw new UsageError(`${problem}, such as "http://${text}"`)
    const moduleHint = takesModule ? 'a module ends with ".js" or ".ts", and ' : ''
    throw new UsageError(`${problem}; ${moduleHint}a program follows "--"`)
  }
  const { username, password } = new URL(text)
  if (username || password) {
    // The message does not contain the URL, because errors are logged
    throw new UsageError(
      'A URL must not contain credentials: pass them with "--header" or "--token"',
    )
  }
  return { url: text.trim() }
}
