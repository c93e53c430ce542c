/**
 * Requests as commands of Edgewise.
 */
import { variableHeaders, type Operation, type ServerAddress } from './operation.ts'
import { quoteReferences, quoteWord } from './shell.ts'

/** The command line that sends a request. */
export function commandLine(server: ServerAddress, operation: Operation): string {
  const { Authorization: _, ...headers } = variableHeaders(server)
  const words = [
    ...['npx', 'edgewise', ...wordsOf(server.url, operation)].map(quoteWord),
    ...(server.isPinned ? ['--revision', server.revision] : []),
    ...Object.entries(headers).flatMap(([name, value]) => [
      '--header',
      quoteReferences(`${name}: ${value}`),
    ]),
    ...(server.access === 'sign-in' ? ['--sign-in'] : []),
  ]
  const command = words.join(' ')
  // The command reads this variable, because other users of the machine can see its arguments
  return server.access === 'token' ? `EDGEWISE_TOKEN="$TOKEN" ${command}` : command
}

function wordsOf(url: string, operation: Operation): string[] {
  if (operation.method === 'resources/read') return ['read', url, operation.uri]
  const { method, name, arguments: args } = operation
  const command = method === 'tools/call' ? 'call' : 'prompt'
  const given = Object.keys(args).length > 0 ? ['--args', JSON.stringify(args)] : []
  return [command, url, name, ...given]
}
