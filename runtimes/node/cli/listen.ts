/**
 * `edgewise listen`: prints a server's notifications.
 */
import type { Subscription } from '#internal/client'
import { SdkError, type JsonRpcNotification } from '../../../src/index.ts'
import type { Client } from '../../../src/presets/client.ts'
import type { Invocation } from './arguments.ts'
import { open } from './open.ts'
import { lifetime } from './interrupted.ts'
import { oneLine, print, printNotice } from './print.ts'
import { requireNoArguments } from './usage.ts'

/**
 * Prints one line for each notification until interrupted.
 *
 * @throws {SdkError} `UNSUPPORTED` if the server sends no notifications, or stops sending them. `CLOSED`
 *   if the program has exited.
 */
export async function listen(invocation: Invocation): Promise<number> {
  requireNoArguments(invocation.commandArguments)
  const { json, resources } = invocation.options
  const { end, untilEnd } = lifetime()
  const onNotification = ({ method, params }: JsonRpcNotification): void => {
    print(
      json
        ? JSON.stringify({ method, params })
        : [oneLine(method), params && JSON.stringify(params)].join(' ').trimEnd(),
    )
  }
  await using client = await open(invocation, { onNotification }, end)
  const subscription = await subscribeToChanges(client, resources)
  const endUnsupported = (): void => end(unsupported('changes'))
  if (subscription) awaitEnd(subscription).then(endUnsupported, end)
  // Node emits this event when no connection is open any more, for example because the server offers no stream
  process.once('beforeExit', endUnsupported)
  printNotice(`Listening to ${client.serverInfo?.name ?? 'the server'} in ${client.revision}`)
  await untilEnd()
  return 0
}

/**
 * Subscribes to all list changes, and to the updates of some resources.
 *
 * @returns The subscription. Returns `undefined` if the server announces no changes, but may send logs.
 * @throws {SdkError} `UNSUPPORTED` if the server sends no notifications, or none for one of the
 *   resources.
 */
async function subscribeToChanges(
  client: Client,
  resources: readonly string[],
): Promise<Subscription | undefined> {
  const subscription = await client
    .listen({
      toolsListChanged: true,
      promptsListChanged: true,
      resourcesListChanged: true,
      ...(resources.length > 0 && { resourceSubscriptions: [...resources] }),
    })
    .catch((error: unknown) => {
      if (error instanceof SdkError && error.code === 'UNSUPPORTED') return undefined
      throw error
    })
  const filter = subscription?.filter ?? {}
  for (const uri of resources) {
    if (!filter.resourceSubscriptions?.includes(uri)) throw unsupported(`changes to "${uri}"`)
  }
  if (Object.keys(filter).length === 0 && !maySendLogs(client)) throw unsupported('changes')
  return subscription
}

/** Whether a server may send logs that belong to no request. Only servers with sessions can. */
function maySendLogs({ revision, serverCapabilities }: Client): boolean {
  return revision < '2026-07-28' && serverCapabilities?.logging !== undefined
}

/** Resolves when a subscription ends. `onNotification` prints the changes. */
async function awaitEnd(subscription: Subscription): Promise<void> {
  for await (const _ of subscription);
}

function unsupported(changes: string): SdkError {
  return new SdkError('UNSUPPORTED', `The server does not announce ${changes}`)
}
