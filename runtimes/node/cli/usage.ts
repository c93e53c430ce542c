/**
 * The help texts of the program.
 */

/** Thrown for an invalid command line; printed with a reference to the help. */
export class UsageError extends Error {}

/**
 * Checks that a command has no unused arguments.
 *
 * @throws {UsageError} If there are any.
 */
export function requireNoArguments([word]: readonly string[]): void {
  if (word !== undefined) throw new UsageError(`Unexpected argument: "${word}"`)
}

/** The commands: the arguments that follow the server, what they do, and an example of these. */
const commands = {
  list: ['[tools|resources|templates|prompts]', 'list what the server offers', 'tools'],
  call: ['<tool> [name=value …]', 'run a tool; name:=value takes JSON', 'book city=Oslo nights=2'],
  read: ['<uri>', 'print a resource; bytes go to a file or a pipe', 'travel://cities'],
  prompt: ['<name> [name=value …]', 'print a prompt, its arguments filled in', 'plan city=Rome'],
  complete: [
    '<prompt|template> <name>=<start> […]',
    'print values for an argument, given those of others',
    'plan city=R',
  ],
  listen: [
    '[--resource <uri>]',
    'print notifications from the server until interrupted',
    '--resource travel://cities',
  ],
  inspect: ['[--port <n>]', 'open the playground on the server', ''],
  bridge: [
    '[--port <n>] [--path <path>]',
    'serve a URL over stdio, or with --port over HTTP; a program over HTTP',
    '',
  ],
  new: [
    '<template> <folder>',
    'start a project: browser, bun, deno, node, workers',
    'node my-server',
  ],
} as const

/** The name of a command. */
export type CommandName = keyof typeof commands

/** Whether a word is the name of a command. */
export function isCommand(word: string | undefined): word is CommandName {
  return word !== undefined && Object.hasOwn(commands, word)
}

/** The kinds of servers on the command line. */
type TargetKind = 'url' | 'program'

/**
 * Where an option applies: to some commands, or all that use a server; to one kind of server, or
 * both.
 */
interface OptionScope {
  readonly commands?: readonly CommandName[]
  readonly only?: TargetKind
}

const options: readonly (readonly [option: string, meaning: string, takers?: OptionScope])[] = [
  [
    '--json',
    'print results as JSON',
    { commands: ['list', 'call', 'read', 'prompt', 'complete', 'listen'] },
  ],
  [
    '--args <json>',
    'arguments as an object; - reads standard input',
    { commands: ['call', 'prompt'] },
  ],
  ['--resource <uri>', 'a resource to watch; may be repeated', { commands: ['listen'] }],
  [
    '--port <n>',
    'the port to listen on; any that is free by default',
    { commands: ['inspect', 'bridge'] },
  ],
  ['--path <path>', 'the path of the endpoint; a secret one by default', { commands: ['bridge'] }],
  ['--header <name: v>', 'an HTTP header; may be repeated', { only: 'url' }],
  ['--token <token>', 'a bearer token, also from EDGEWISE_TOKEN', { only: 'url' }],
  ['--sign-in', 'sign in with the browser when the server asks for it', { only: 'url' }],
  ['--revision <date>', 'speak only this revision'],
  ['--timeout-ms <n>', 'the timeout of a request; 60000 by default'],
  ['--env <name=value>', 'a variable for the program; may be repeated', { only: 'program' }],
  ['--cwd <folder>', 'where the program runs', { only: 'program' }],
  [
    '--yes',
    'accept forms by the defaults of their fields; decline those without',
    { commands: ['call', 'read', 'prompt'] },
  ],
  ['--verbose', 'print problems that no result reports'],
]

/**
 * Checks that a command supports the given options.
 *
 * @throws {UsageError} If it does not.
 */
export function checkOptions(
  command: CommandName,
  kind: TargetKind,
  given: readonly string[],
): void {
  for (const [option, , { commands: scope, only } = {}] of options) {
    const [name = ''] = option.slice(2).split(' ')
    if (!given.includes(name)) continue
    const isAccepted = command !== 'new' && (scope?.includes(command) ?? true)
    if (!isAccepted) throw new UsageError(`"${command}" takes no "--${name}"`)
    if (only !== undefined && only !== kind) {
      const target = kind === 'url' ? 'a URL' : 'a program'
      throw new UsageError(`"--${name}" has no effect with ${target}`)
    }
  }
}

/** The help text. */
export const usage: string = `Usage: edgewise <command> <url> [arguments] [options]
       edgewise <command> [arguments] [options] -- <program> [its arguments]
       edgewise new <template> <folder>

Commands
${Object.entries(commands)
  .map(([name, [args, meaning]]) => row(`${name} ${args}`, 41, meaning))
  .join('\n')}

Options
${options.map(([option, meaning]) => row(option, 20, meaning)).join('\n')}
  --help               this, or of one command: edgewise call --help
  --version

Exit status: 0 done; 1 the server refused or a tool failed; 2 wrong usage; 3 no connection;
128 and more interrupted.
`

/** The help text of one command. */
export function usageOf(name: CommandName): string {
  const [args, meaning, example] = commands[name]
  if (name === 'new') {
    return `Usage: edgewise new ${args}\n\nTo ${meaning}\n\nSuch as\n  edgewise new ${example}\n`
  }
  const line = (...words: string[]): string =>
    ['  edgewise', name, ...words].filter((word) => word !== '').join(' ')
  const acceptedOptions = options.filter(([, , takers]) => takers?.commands?.includes(name) ?? true)
  return `Usage: edgewise ${name} <url> ${args} [options]
       edgewise ${name} ${args} [options] -- <program> [its arguments]

To ${meaning}

Such as
${line('https://example.com/mcp', example)}
${line(example, '-- node server.js')}

Options
${acceptedOptions.map(([option, use]) => row(option, 20, use)).join('\n')}
`
}

/** A line of two columns; if the first is too long, it gets its own line. */
function row(left: string, width: number, right: string): string {
  const gap = left.length > width ? `\n${' '.repeat(width + 3)}` : ' '
  return `  ${left.padEnd(width)}${gap}${right}`
}
