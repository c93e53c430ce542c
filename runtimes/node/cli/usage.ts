/**
 * The help texts of the program.
 */

import { hostNames } from './hosts/host-names.ts'

/** Thrown for an invalid command line. Its message is printed with a reference to the help. */
export class UsageError extends Error {}

/**
 * Checks that a command has no unused arguments.
 *
 * @throws {UsageError} If there are any.
 */
export function requireNoArguments([word]: readonly string[]): void {
  if (word !== undefined) throw new UsageError(`Unexpected argument: "${word}"`)
}

/** The commands: their arguments after the server, a description, and example arguments. */
const commands = {
  list: ['[tools|resources|templates|prompts]', 'list what the server offers', 'tools'],
  call: [
    '<tool> [name=value …]',
    'call a tool; name:=value is parsed as JSON',
    'book city=Oslo nights=2',
  ],
  read: [
    '<uri>',
    'print a resource; redirect binary contents to a file or a pipe',
    'travel://cities',
  ],
  prompt: [
    '<name> [name=value …]',
    'print a prompt with its arguments filled in',
    'plan city=Rome',
  ],
  complete: [
    '<prompt|template> <name>=<start> […]',
    'print suggestions for an argument, given the values of others',
    'plan city=R',
  ],
  listen: [
    '[--resource <uri>]',
    'print notifications from the server until interrupted',
    '--resource travel://cities',
  ],
  events: [
    '[type] [name=value …] [--webhook <url>]',
    'list event types, or print the events of one until interrupted',
    'order.shipped city=Oslo',
  ],
  inspect: ['[--port <n>]', 'open the playground, a page that calls the server', ''],
  check: [
    '[--json|--sarif]',
    'check the server against the specification, and against what hosts accept',
    '',
  ],
  bridge: [
    '[--port <n>] [--path <path>]',
    'serve a URL over stdio (with --port, over HTTP), or a program over HTTP',
    '',
  ],
  install: [
    '--client <host> [--scope project] [--dry-run]',
    'add a URL, a domain, a module or a program to the configuration of a host',
    '--client cursor',
  ],
  links: ['[--name <name>]', 'print badges for a README, with which users add the server', ''],
  bundle: [
    '<module or folder> [--output <file>]',
    'pack a server into an .mcpb file, which users open with Claude Desktop',
    'dist/main.js',
  ],
  uninstall: [
    '<name> --client <host> [--scope project]',
    'remove a server from the configuration of a host',
    'travel --client cursor',
  ],
  discover: ['<domain>', 'list the servers of a domain', 'example.com'],
  card: ['<module>', 'print the server card that a module exports', 'server.js'],
  'registry-entry': [
    '<module>',
    'validate and print an entry for the MCP registry, from a card or a server.json',
    'server.js',
  ],
  migrate: ['[folder]', 'convert servers of the official SDK and of McpAgent', 'my-server'],
  new: [
    '<template> <folder>',
    'create a project from a template: browser, bun, deno, edge, node, node-http, workers',
    'node my-server',
  ],
} as const

/** The name of a command. */
export type CommandName = keyof typeof commands

/** Whether a word is the name of a command. */
export function isCommand(word: string | undefined): word is CommandName {
  return word !== undefined && Object.hasOwn(commands, word)
}

/** The commands that do not use a running server. Each has its own arguments. */
const LOCAL_COMMANDS = [
  'bundle',
  'uninstall',
  'discover',
  'card',
  'registry-entry',
  'migrate',
  'new',
] as const

/** The name of a command that does not use a running server. */
export type LocalCommandName = (typeof LOCAL_COMMANDS)[number]

/** Whether a command does not use a running server. */
export function isLocalCommand(name: CommandName): name is LocalCommandName {
  return LOCAL_COMMANDS.some((local) => local === name)
}

/** The commands that use a server, but do not connect to it. They configure hosts, or create links for hosts. */
const HOST_COMMANDS: readonly CommandName[] = ['install', 'links']

/** The kinds of server that a command line can specify. */
type TargetKind = 'url' | 'program'

/**
 * Where an option is supported.
 */
interface OptionScope {
  /** The commands that support the option. By default, all commands that connect to a server. */
  readonly commands?: readonly CommandName[]
  /** Further commands that support the option. */
  readonly also?: readonly CommandName[]
  /** The only kind of server for which the option is supported. By default, both kinds. */
  readonly kind?: TargetKind
}

function isSupported({ commands, also = [] }: OptionScope, command: CommandName): boolean {
  if (also.includes(command)) return true
  return (
    commands?.includes(command) ?? !(isLocalCommand(command) || HOST_COMMANDS.includes(command))
  )
}

const options: readonly (readonly [option: string, meaning: string, scope?: OptionScope])[] = [
  [
    '--json',
    'print results as JSON',
    {
      commands: ['list', 'call', 'read', 'prompt', 'complete', 'listen', 'events', 'check'],
      also: ['discover', 'links'],
    },
  ],
  ['--sarif', 'print findings in the format of code scanning', { commands: ['check'] }],
  [
    '--args <json>',
    'the arguments as a JSON object, or - to read the object from standard input',
    { commands: ['call', 'prompt', 'events'] },
  ],
  [
    '--resource <uri>',
    'also print updates of this resource; may be repeated',
    { commands: ['listen'] },
  ],
  [
    '--webhook <url>',
    'receive events at this public URL, which must forward requests to --port',
    { commands: ['events'] },
  ],
  [
    '--port <n>',
    'the port to listen on; a free one by default',
    { commands: ['events', 'inspect', 'bridge'] },
  ],
  ['--path <path>', 'the path of the endpoint; a secret one by default', { commands: ['bridge'] }],
  [
    '--client <host>',
    `a host: ${hostNames.join(', ')}; may be repeated`,
    { commands: ['install', 'uninstall'] },
  ],
  ['--name <name>', 'the name of the server', { commands: ['install', 'links', 'bundle'] }],
  ['--output <file>', 'the file to write', { commands: ['bundle'] }],
  [
    '--scope <scope>',
    'user (the default), or project: the current folder',
    { commands: ['install', 'uninstall'] },
  ],
  [
    '--force',
    'replace another server of the same name, or migrate files that are not committed',
    { commands: ['install', 'migrate'] },
  ],
  [
    '--dry-run',
    'print the result, and change nothing',
    { commands: ['install', 'uninstall', 'bundle', 'migrate'] },
  ],
  ['--header <name: v>', 'an HTTP header; may be repeated', { kind: 'url', also: HOST_COMMANDS }],
  [
    '--input <name=value>',
    'a value that the card of a domain asks for; may be repeated',
    { kind: 'url', also: HOST_COMMANDS },
  ],
  [
    '--token <token>',
    'a bearer token; EDGEWISE_TOKEN by default, except for install and links',
    { kind: 'url', also: HOST_COMMANDS },
  ],
  ['--sign-in', 'sign in with the browser when the server requires it', { kind: 'url' }],
  ['--revision <date>', 'use only this revision of the protocol'],
  ['--timeout-ms <n>', 'the timeout of a request in milliseconds; 60000 by default'],
  [
    '--env <name=value>',
    'an environment variable of the program; may be repeated',
    { kind: 'program', also: [...HOST_COMMANDS, 'bundle'] },
  ],
  [
    '--cwd <folder>',
    'the working directory of the program',
    { kind: 'program', also: HOST_COMMANDS },
  ],
  [
    '--yes',
    'submit forms with the defaults of their fields; decline other forms',
    { commands: ['call', 'read', 'prompt'] },
  ],
  ['--verbose', 'also print errors that do not make the command fail'],
]

/**
 * Checks that a command supports the given options.
 *
 * @throws {UsageError} If it does not.
 */
export function checkOptions(
  command: CommandName,
  target: TargetKind,
  optionNames: readonly string[],
): void {
  for (const [option, , scope = {}] of options) {
    const [name = ''] = option.slice(2).split(' ')
    if (!optionNames.includes(name)) continue
    if (!isSupported(scope, command))
      throw new UsageError(`"${command}" does not support "--${name}"`)
    const requiresKind = scope.kind !== undefined && !isLocalCommand(command)
    if (requiresKind && scope.kind !== target) {
      const server = target === 'url' ? 'a URL' : 'a program'
      throw new UsageError(`"--${name}" has no effect with ${server}`)
    }
  }
}

/** The widths of the first columns of the help text, in characters. */
const COMMAND_WIDTH = 41
const OPTION_WIDTH = 20

/** The help text. */
export const usage: string = `Usage: edgewise <command> <url or domain> [arguments] [options]
       edgewise <command> [arguments] [options] -- <program> [its arguments]
       edgewise bundle|uninstall|discover|card|registry-entry|migrate|new [arguments] [options]

Commands
${Object.entries(commands)
  .map(([name, [args, meaning]]) => row(`${name} ${args}`, COMMAND_WIDTH, meaning))
  .join('\n')}

Options
${options.map(([option, meaning]) => row(option, OPTION_WIDTH, meaning)).join('\n')}
  --help               print this help, or the help of a command: edgewise call --help
  --version            print the version

Exit status: 0 success; 1 the server rejected the request or the tool failed; 2 invalid usage;
3 the connection failed; 129, 130, 143 interrupted.
`

/** The help text of one command. */
export function usageOf(name: CommandName): string {
  const [args, meaning, example] = commands[name]
  const sentence = meaning.charAt(0).toUpperCase() + meaning.slice(1)
  const supportedOptions = options
    .filter(([, , scope = {}]) => isSupported(scope, name))
    .map(([option, use]) => row(option, OPTION_WIDTH, use))
  if (isLocalCommand(name)) {
    const usageLine = `Usage: edgewise ${name} ${args}`
    const list = supportedOptions.length > 0 ? ['', 'Options', ...supportedOptions] : []
    return [
      usageLine,
      '',
      sentence,
      '',
      'Example',
      `  edgewise ${name} ${example}`,
      ...list,
      '',
    ].join('\n')
  }
  const exampleLine = (...words: string[]): string =>
    ['  edgewise', name, ...words].filter((word) => word !== '').join(' ')
  const server = HOST_COMMANDS.includes(name) ? '<url, domain or module>' : '<url>'
  return `Usage: edgewise ${name} ${server} ${args} [options]
       edgewise ${name} ${args} [options] -- <program> [its arguments]

${sentence}

Examples
${exampleLine('https://example.com/mcp', example)}
${exampleLine(example, '-- node server.js')}

Options
${supportedOptions.join('\n')}
`
}

/** Formats a line of two columns. If the left text is too long, the right text starts on the next line. */
function row(left: string, leftWidth: number, right: string): string {
  const gap = left.length > leftWidth ? `\n${' '.repeat(leftWidth + 3)}` : ' '
  return `  ${left.padEnd(leftWidth)}${gap}${right}`
}
