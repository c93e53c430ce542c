/**
 * A request in every form that can be copied.
 */
import type { McpHostName } from '../../../../runtimes/node/cli/hosts/host-names.ts'
import { commandLine } from './command.ts'
import { curlScript } from './curl.ts'
import { hostConfiguration, shownHosts } from './hosts.ts'
import type { Operation, ServerAddress } from './operation.ts'
import { typescript } from './typescript.ts'

/** A text to copy. */
export interface Snippet {
  id: 'typescript' | 'curl' | 'command' | 'link' | McpHostName
  label: string
  text: string
  /** What the user has to know about it, as sentences. */
  notes: string[]
}

/** Creates the forms of a request; only the configurations of hosts if there is no request. */
export function snippetsOf(
  server: ServerAddress,
  operation: Operation | undefined,
  platform: 'darwin' | 'linux' | 'win32',
): Snippet[] {
  const hosts = shownHosts.map((host) => hostSnippet(host, server, platform))
  if (!operation) return hosts
  const notes = (): string[] => variableNotes(server)
  return [
    { id: 'typescript', label: 'TypeScript', text: typescript(server, operation), notes: notes() },
    { id: 'curl', label: 'curl', text: curlScript(server, operation), notes: notes() },
    { id: 'command', label: 'CLI', text: commandLine(server, operation), notes: notes() },
    ...hosts,
  ]
}

function hostSnippet(
  host: McpHostName,
  server: ServerAddress,
  platform: 'darwin' | 'linux' | 'win32',
): Snippet {
  const { title, file, projectFile, text, next } = hostConfiguration(host, server, platform)
  const place = projectFile === undefined ? '' : `, or into “${projectFile}” of a project`
  const isPlain = host === 'claude-desktop' && needsVariables(server)
  const notes = [
    `Merge it into “${file}”${place}.`,
    ...(isPlain ? ['Replace the names in capitals by their values.'] : []),
    `${next}.`,
  ]
  return { id: host, label: title, text, notes }
}

function variableNotes(server: ServerAddress): string[] {
  const notes = needsVariables(server)
    ? ['Set the variables in capitals: the text contains no secrets.']
    : []
  if (server.access === 'sign-in') notes.push('TOKEN is an access token of your sign-in.')
  return notes
}

function needsVariables({ headerNames, access }: ServerAddress): boolean {
  return headerNames.length > 0 || access !== 'none'
}
