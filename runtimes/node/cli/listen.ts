/**
 * `edgewise listen`: prints what a server tells on its own.
 */
import type { Subscription } from '#internal/client'
import { McpError, type JsonRpcNotification } from '../../../src/index.ts'
import type { Client } from '../../../src/presets/client.ts'
import type { Invocation } from './arguments.ts'
import { open } from './open.ts'
import { lifetime } from './interrupted.ts'
import { oneLine, print, tell } from './print.ts'
import { takesNothing } from './usage.ts'

/**
 * Prints one line for each notification until the program is interrupted.
 *
 * @throws {McpError} `UNSUPPORTED` when the server tells nothing, or no more; `CLOSED` when the
 *   program that it listens to has ended.
 */
export async function listen(invocation: Invocation): Promise<number> {
  takesNothing(invocation.rest)
  const { json, resources } = invocation.options
  const { end, over } = lifetime()
  const onNotification = ({ method, params }: JsonRpcNotification): void => {
    print(
      json
        ? JSON.stringify({ method, params })
        : [oneLine(method), params && JSON.stringify(params)].join(' ').trimEnd(),
    )
  }
  await using client = await open(invocation, { onNotification }, end)
  const changes = await changesOf(client, resources)
  const silent = (): void => end(untold('changes'))
  if (changes) follow(changes).then(silent, end)
  // Nothing more can arrive where nothing is open, as of a server that has no stream for a session
  process.once('beforeExit', silent)
  tell(`Listening to ${client.serverInfo?.name ?? 'the server'} in ${client.revision}`)
  await over()
  return 0
}

/**
 * Listens to all changes of lists, and to those of some resources; gives nothing where the server
 * tells of no changes, but may send logs.
 *
 * @throws {McpError} `UNSUPPORTED` when the server tells nothing, or not of one of the resources.
 */
async function changesOf(
  client: Client,
  resources: readonly string[],
): Promise<Subscription | undefined> {
  const changes = await client
    .listen({
      toolsListChanged: true,
      promptsListChanged: true,
      resourcesListChanged: true,
      ...(resources.length > 0 && { resourceSubscriptions: [...resources] }),
    })
    .catch((error: unknown) => {
      if (error instanceof McpError && error.code === 'UNSUPPORTED') return undefined
      throw error
    })
  const filter = changes?.filter ?? {}
  for (const uri of resources) {
    if (!filter.resourceSubscriptions?.includes(uri)) throw untold(`changes to "${uri}"`)
  }
  if (Object.keys(filter).length === 0 && !sendsLogs(client)) throw untold('changes')
  return changes
}

/** Whether a server may send logs that belong to no request, which only sessions have. */
function sendsLogs({ revision, serverCapabilities }: Client): boolean {
  return revision < '2026-07-28' && serverCapabilities?.logging !== undefined
}

/** Resolves when there will be no more changes; what they are is printed already. */
async function follow(changes: Subscription): Promise<void> {
  for await (const _ of changes);
}

function untold(what: string): McpError {
  return new McpError('UNSUPPORTED', `The server does not tell of ${what}`)
}
