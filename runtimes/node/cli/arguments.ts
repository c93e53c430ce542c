/**
 * The command line, read by Node's own parser.
 *
 * @see https://nodejs.org/api/util.html#utilparseargsconfig
 */
import { parseArgs } from 'node:util'
import { findRevision, type Revision } from '../../../src/index.ts'
import { isCommand, UsageError, type CommandName } from './usage.ts'

/** A project to make. */
export interface Creation {
  readonly command: 'new'
  readonly rest: readonly string[]
}

/** What to do, to which server, and how. */
export interface Invocation {
  readonly command: Exclude<CommandName, 'new'>
  readonly target: Target
  /** What follows the server. */
  readonly rest: readonly string[]
  readonly options: Options
}

/** A server: an endpoint, or a program that speaks over stdio. */
export type Target =
  | { readonly url: string }
  | { readonly command: string; readonly args: readonly string[] }

const definitions = {
  json: { type: 'boolean', default: false },
  args: { type: 'string' },
  header: { type: 'string', multiple: true, default: [] as string[] },
  token: { type: 'string' },
  'sign-in': { type: 'boolean', default: false },
  revision: { type: 'string' },
  'timeout-ms': { type: 'string' },
  env: { type: 'string', multiple: true, default: [] as string[] },
  cwd: { type: 'string' },
  resource: { type: 'string', multiple: true, default: [] as string[] },
  port: { type: 'string' },
  yes: { type: 'boolean', default: false },
  verbose: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
  version: { type: 'boolean', default: false },
} as const

/** The options, checked. */
export interface Options {
  readonly json: boolean
  readonly args: string | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly signIn: boolean
  readonly revision: Revision | undefined
  readonly timeoutMs: number | undefined
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string | undefined
  readonly resources: readonly string[]
  readonly port: number | undefined
  readonly yes: boolean
  readonly verbose: boolean
}

/**
 * Reads a command line.
 *
 * @returns `help`, of a command where one is named, or `version` when that was asked for.
 * @throws {UsageError} when it makes no sense.
 */
export function readArguments(
  argv: readonly string[],
): Invocation | Creation | { help: CommandName | undefined } | 'version' {
  const end = argv.indexOf('--')
  const own = end === -1 ? argv : argv.slice(0, end)
  const { values, positionals } = parse(own)
  const [command, ...others] = positionals
  if (values.help || argv.length === 0) return { help: isCommand(command) ? command : undefined }
  if (values.version) return 'version'
  if (!isCommand(command)) {
    throw new UsageError(`There is no command "${command ?? ''}"`)
  }
  if (command === 'new') return { command, rest: others }
  const program = end === -1 ? undefined : argv.slice(end + 1)
  const [target, rest] = program ? [childOf(program), others] : [urlOf(others[0]), others.slice(1)]
  return { command, target, rest, options: optionsOf(values) }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: definitions, allowPositionals: true })
  } catch (error) {
    throw new UsageError(error instanceof Error ? (error.message.split('. ')[0] ?? '') : '')
  }
}

type Values = ReturnType<typeof parse>['values']

function optionsOf(values: Values): Options {
  const { json, args, cwd, yes, verbose } = values
  const token = values.token ?? process.env.EDGEWISE_TOKEN
  const headers = pairs(values.header, ':', '--header')
  if (token !== undefined) headers.authorization = `Bearer ${token}`
  return {
    json,
    args,
    headers,
    signIn: values['sign-in'],
    revision: revisionOf(values.revision),
    timeoutMs: numberOf(values['timeout-ms'], '--timeout-ms'),
    env: pairs(values.env, '=', '--env'),
    cwd,
    resources: values.resource,
    port: numberOf(values.port, '--port'),
    yes,
    verbose,
  }
}

function childOf([command, ...args]: readonly string[]): Target {
  if (command === undefined) throw new UsageError('A program must follow "--"')
  return { command, args }
}

function urlOf(text: string | undefined): Target {
  if (text === undefined) throw new UsageError('Name a server: a URL, or "-- program"')
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new UsageError(`"${text}" is no http or https URL; a program follows "--"`)
  }
  return { url: text }
}

function pairs(given: readonly string[], mark: string, option: string): Record<string, string> {
  return Object.fromEntries(
    given.map((pair) => {
      const at = pair.indexOf(mark)
      if (at < 1) throw new UsageError(`"${option}" takes name${mark}value, not "${pair}"`)
      return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()]
    }),
  )
}

function numberOf(text: string | undefined, option: string): number | undefined {
  if (text === undefined) return undefined
  const number = Number(text)
  if (!Number.isInteger(number) || number < 0) {
    throw new UsageError(`"${option}" takes a whole number, not "${text}"`)
  }
  return number
}

function revisionOf(text: string | undefined): Revision | undefined {
  if (text === undefined) return undefined
  const facts = findRevision(text)
  if (!facts) throw new UsageError(`There is no revision "${text}"`)
  return facts.version
}
