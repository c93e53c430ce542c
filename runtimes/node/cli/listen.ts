/**
 * `edgewise listen`: prints what a server tells on its own.
 */
import type { ConnectOptions } from '../../../src/client/index.ts'
import type { Invocation } from './arguments.ts'
import { open } from './open.ts'
import { lifetime } from './interrupted.ts'
import { print, tell } from './print.ts'
import { takesNothing } from './usage.ts'

/**
 * Prints one line for each notification until the program is interrupted.
 *
 * @throws {McpError} `CLOSED` when the program that it listens to has ended.
 */
export async function listen(invocation: Invocation): Promise<number> {
  takesNothing(invocation.rest)
  const { json, resources } = invocation.options
  const { end, over } = lifetime()
  const hooks: ConnectOptions = {
    // That these are there has the client listen.
    onToolsChanged: () => {},
    onPromptsChanged: () => {},
    onResourcesChanged: () => {},
    ...(resources.length > 0 && { onResourceUpdated: () => {} }),
    onNotification: ({ method, params }) => {
      print(
        json
          ? JSON.stringify({ method, params })
          : [method, params && JSON.stringify(params)].join(' ').trimEnd(),
      )
    },
  }
  await using client = await open(invocation, hooks, end)
  for (const uri of resources) await client.subscribe(uri)
  tell(`Listening to ${client.serverInfo?.name ?? 'the server'} in ${client.revision}`)
  await over()
  return 0
}
