/**
 * `edgewise check`: checks a server against the specification, and prints the violations.
 *
 * @see https://modelcontextprotocol.io/specification/versioning
 */
import {
  checkEndpoint,
  checkProgram,
  groupFindings,
  hasNoResponse,
  MAX_FINDINGS_OF_RULE,
  reportOf,
  withoutSecrets,
  type Finding,
  type Severity,
} from '#internal/check'
import type { Client } from '../../../src/presets/client.ts'
import type { Revision } from '../../../src/index.ts'
import type { Invocation } from './arguments.ts'
import { interruption as signal } from './interrupted.ts'
import { ConnectError, messagesOf, open } from './open.ts'
import { oneLine, print, printJson } from './print.ts'
import { sarifOf } from './sarif.ts'
import { requireNoArguments, UsageError } from './usage.ts'
import { version } from './version.ts'

/** How long each response of the server may take, in milliseconds. */
const TIMEOUT_MS = 30_000

/** Prints the findings. The exit status is 1 if one of them is an error. */
export async function check(invocation: Invocation): Promise<number> {
  const { target, options, commandArguments } = invocation
  requireNoArguments(commandArguments)
  if (options.json && options.sarif) throw new UsageError('Use either "--json" or "--sarif"')
  const connect = (revision?: Revision): Promise<Client> => {
    return open({ target, options: { ...options, revision: revision ?? options.revision } })
  }
  const { headers, timeoutMs = TIMEOUT_MS } = options
  const checks =
    'url' in target
      ? checkEndpoint({ url: target.url, headers, fetch, timeoutMs, signal }, connect)
      : checkProgram(connect, signal)
  const findings: Finding[] = []
  try {
    for await (const finding of checks) findings.push(finding)
  } catch (error) {
    throw connectError(error, target)
  }
  const server = 'url' in target ? withoutSecrets(target.url) : target.command
  if (options.sarif) printJson(sarifOf(findings, server, await version()))
  else if (options.json) printJson(reportOf(server, findings))
  else printFindings(findings)
  return findings.some(({ severity }) => severity === 'error') ? 1 : 0
}

/** Converts an error of `fetch` to an error that names the server. Returns any other error unchanged. */
function connectError(error: unknown, target: Invocation['target']): unknown {
  const isFetchError = error instanceof TypeError || hasNoResponse(error)
  if (!isFetchError || !('url' in target)) return error
  const server = withoutSecrets(target.url)
  return new ConnectError(`Cannot check ${server}: ${messagesOf(error)}`, { cause: error })
}

const headings: Readonly<Record<Severity, string>> = {
  error: 'Errors',
  warning: 'Warnings',
  note: 'Notes',
}

/** The maximum number of entries, such as tools, that are listed at the beginning of a message. */
const MAX_SUBJECTS = 8

/** Prints the findings, grouped by severity and rule. */
function printFindings(findings: readonly Finding[]): void {
  if (findings.length === 0) print('Nothing was found')
  let lastSeverity: Severity | undefined
  for (const { severity, rule, requirement, url, messages } of groupFindings(findings)) {
    if (severity !== lastSeverity) print(headings[severity])
    lastSeverity = severity
    print(oneLine(`  ${rule}: ${requirement}`))
    for (const { message, subjects } of messages.slice(0, MAX_FINDINGS_OF_RULE)) {
      print(oneLine(`    ${prefixOf(subjects)}${message}`))
    }
    const more = messages.length - MAX_FINDINGS_OF_RULE
    if (more > 0) print(`    and ${more} more`)
    print(`    See ${url}`)
  }
}

/** The beginning of a message: the entries that it is about, and a colon. */
function prefixOf(subjects: readonly string[]): string {
  if (subjects.length === 0) return ''
  const more = subjects.length - MAX_SUBJECTS
  return `${subjects.slice(0, MAX_SUBJECTS).join(', ')}${more > 0 ? ` and ${more} more` : ''}: `
}
