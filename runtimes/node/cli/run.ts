/**
 * Runs one command, and reports its outcome as the exit status.
 */
import { SdkError, ProtocolError } from '../../../src/index.ts'
import { readArguments, type Invocation, type LocalInvocation } from './arguments.ts'
import { bridge } from './bridge.ts'
import { call } from './call.ts'
import { printCard, printRegistryEntry } from './card.ts'
import { complete } from './complete.ts'
import { discoverServers, resolveDomain } from './domain.ts'
import { events } from './events.ts'
import { ConfigurationError } from './hosts/configuration-file.ts'
import { inspect } from './inspect.ts'
import { list } from './list.ts'
import { listen } from './listen.ts'
import { interruptedStatus, interruption } from './interrupted.ts'
import { MigrationError } from './migrate/migration-error.ts'
import { ConnectError, describeRequiredScopes, messagesOf } from './open.ts'
import { safe, printNotice } from './print.ts'
import { newProject } from './new.ts'
import { prompt } from './prompt.ts'
import { read } from './read.ts'
import { isCommand, usage, UsageError, usageOf } from './usage.ts'
import { version } from './version.ts'

/** The commands that use the server of the command line. */
const run: Readonly<Record<Invocation['command'], (invocation: Invocation) => Promise<number>>> = {
  list,
  call,
  read,
  prompt,
  complete,
  listen,
  events,
  inspect,
  bridge,
  check: async (invocation) => (await import('./check.ts')).check(invocation),
  install: async (invocation) => (await import('./install.ts')).install(invocation),
  links: async (invocation) => (await import('./links.ts')).links(invocation),
}

/** All other commands. */
const runLocally: Readonly<
  Record<LocalInvocation['command'], (invocation: LocalInvocation) => Promise<number>>
> = {
  bundle: async (invocation) => (await import('./bundle.ts')).bundle(invocation),
  uninstall: async (invocation) => (await import('./install.ts')).uninstall(invocation),
  discover: ({ commandArguments, options }) => discoverServers(commandArguments, options),
  card: ({ commandArguments }) => printCard(commandArguments),
  'registry-entry': ({ commandArguments }) => printRegistryEntry(commandArguments),
  migrate: async (invocation) =>
    (await import('./migrate/migrate.ts')).migrate(invocation, await version()),
  new: ({ commandArguments }) => newProject(commandArguments),
}

/**
 * Runs a command line. Never rejects.
 *
 * @returns The exit status: 0 for success, 1 if the server returned an error or a tool failed, 2
 *   for wrong usage, 3 if connecting failed, or the status of the signal if interrupted.
 */
export async function runCommand(argv: readonly string[]): Promise<number> {
  try {
    const invocation = readArguments(argv)
    if (invocation === 'version') {
      process.stdout.write(`${await version()}\n`)
      return 0
    }
    if ('help' in invocation) {
      const { help } = invocation
      process.stdout.write(help === undefined ? usage : usageOf(help))
      return argv.length === 0 ? 2 : 0
    }
    if (!('target' in invocation)) return await runLocally[invocation.command](invocation)
    return await run[invocation.command](await resolveDomain(invocation))
  } catch (error) {
    if (interruption.aborted) return interruptedStatus()
    return reportFailure(error, argv)
  }
}

/** Prints an error, and returns the exit status. */
function reportFailure(error: unknown, argv: readonly string[]): number {
  if (error instanceof UsageError) {
    const [command] = argv.filter(isCommand)
    printNotice(`${error.message}. See edgewise ${command ? `${command} ` : ''}--help`)
    return 2
  }
  if (error instanceof ConnectError) {
    printNotice(error.message)
    return 3
  }
  if (error instanceof ProtocolError) {
    printNotice(`The server returned an error: ${error.message} (${error.code})`)
    if (error.data !== undefined) printNotice(JSON.stringify(error.data))
    return 1
  }
  if (error instanceof SdkError) {
    printNotice(`${messagesOf(error)} (${error.code})`)
    const requiredScopes = describeRequiredScopes(error)
    if (requiredScopes !== '') printNotice(requiredScopes)
    const { status } = (error.data ?? {}) as { status?: number }
    if (status === 403) return 1
    return ['NETWORK', 'CLOSED', 'HTTP', 'UNAUTHORIZED', 'SESSION_LOST'].includes(error.code)
      ? 3
      : 1
  }
  if (error instanceof ConfigurationError || error instanceof MigrationError) {
    printNotice(error.message)
    return 1
  }
  // System errors, such as a port that is taken, are not bugs, so no stack is printed
  if (error instanceof Error && 'syscall' in error) {
    printNotice(error.message)
    return 1
  }
  process.stderr.write(
    `${safe(error instanceof Error ? (error.stack ?? error.message) : String(error))}\n`,
  )
  return 1
}
