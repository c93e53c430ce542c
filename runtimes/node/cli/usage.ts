/**
 * What the program can do, in its own words.
 */

/** Thrown for a command line that makes no sense; told with the way to the help. */
export class UsageError extends Error {}

/**
 * Checks that no words are left that a command has no use for.
 *
 * @throws {UsageError} when there are.
 */
export function takesNothing([word]: readonly string[]): void {
  if (word !== undefined) throw new UsageError(`There is no use for "${word}" here`)
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
    'print what the server tells, until interrupted',
    '--resource travel://cities',
  ],
  inspect: ['[--port <n>]', 'open the playground on the server', ''],
  bridge: [
    '[--port <n>]',
    'serve a URL over stdio, or with --port over HTTP; a program over HTTP',
    '',
  ],
  new: ['<template> <folder>', 'start a project: browser, deno, node, workers', 'node my-server'],
} as const

/** The name of a command. */
export type CommandName = keyof typeof commands

/** Whether a word is the name of a command. */
export function isCommand(word: string | undefined): word is CommandName {
  return word !== undefined && Object.hasOwn(commands, word)
}

/** The options, and the commands that take them; without any, all that use a server do. */
const options: readonly (readonly [
  option: string,
  meaning: string,
  of?: readonly CommandName[],
])[] = [
  ['--json', 'print results as JSON', ['list', 'call', 'read', 'prompt', 'complete', 'listen']],
  ['--args <json>', 'arguments as an object; - reads standard input', ['call', 'prompt']],
  ['--resource <uri>', 'a resource to hear of; may be repeated', ['listen']],
  ['--port <n>', 'the port to listen on; any that is free by default', ['inspect', 'bridge']],
  ['--header <name: v>', 'an HTTP header; may be repeated'],
  ['--token <token>', 'a bearer token, also from EDGEWISE_TOKEN'],
  ['--sign-in', 'sign in with the browser when the server asks for it'],
  ['--revision <date>', 'speak only this revision'],
  ['--timeout-ms <n>', 'the longest silence of a request; 60000 by default'],
  ['--env <name=value>', 'a variable for the program; may be repeated'],
  ['--cwd <folder>', 'where the program runs'],
  [
    '--yes',
    'accept forms by the defaults of their fields; decline those without',
    ['call', 'read', 'prompt'],
  ],
  ['--verbose', 'print problems that no answer tells of'],
]

/**
 * Checks that a command takes the options that it was given.
 *
 * @throws {UsageError} when it does not.
 */
export function checkOptions(command: CommandName, given: readonly string[]): void {
  for (const [option, , of] of options) {
    const [name = ''] = option.slice(2).split(' ')
    if (!given.includes(name)) continue
    const taken = command !== 'new' && (of?.includes(command) ?? true)
    if (!taken) throw new UsageError(`"${command}" takes no "--${name}"`)
  }
}

/** The help. */
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

/** The help of one command. */
export function usageOf(name: CommandName): string {
  const [args, meaning, example] = commands[name]
  if (name === 'new') {
    return `Usage: edgewise new ${args}\n\nTo ${meaning}\n\nSuch as\n  edgewise new ${example}\n`
  }
  const line = (...words: string[]): string =>
    ['  edgewise', name, ...words].filter((word) => word !== '').join(' ')
  const taken = options.filter(([, , of]) => of?.includes(name) ?? true)
  return `Usage: edgewise ${name} <url> ${args} [options]
       edgewise ${name} ${args} [options] -- <program> [its arguments]

To ${meaning}

Such as
${line('https://example.com/mcp', example)}
${line(example, '-- node server.js')}

Options
${taken.map(([option, use]) => row(option, 20, use)).join('\n')}
`
}

/** A line of two columns; what is too long for the first has a line of its own. */
function row(left: string, width: number, right: string): string {
  const gap = left.length > width ? `\n${' '.repeat(width + 3)}` : ' '
  return `  ${left.padEnd(width)}${gap}${right}`
}
