/**
 * `edgewise bridge`: lets hosts that only start programs use a server that is elsewhere, and clients
 * that only speak HTTP use a program; every revision on either side.
 */
import { createGateway } from '../../../src/server/index.ts'
import { followTasks } from '../../../src/tasks/index.ts'
import { serveHttp } from '../serve-http.ts'
import { serveStdio } from '../serve-stdio.ts'
import type { Invocation } from './arguments.ts'
import { lifetime } from './interrupted.ts'
import { open } from './open.ts'
import { print, tell } from './print.ts'
import { takesNothing } from './usage.ts'

/**
 * Serves a URL over stdio, or a program over HTTP, until the client or the user ends it.
 *
 * @throws {McpError} `CLOSED` when the program has ended: who started this may start it anew.
 */
export async function bridge(invocation: Invocation): Promise<number> {
  const { target, options, rest } = invocation
  takesNothing(rest)
  const onError = (error: unknown): void => {
    if (options.verbose) tell(`Problem: ${error instanceof Error ? error.message : String(error)}`)
  }
  const { end, over } = lifetime()
  const gateway = await createGateway(
    (passed) => open(invocation, { ...passed, extensions: [followTasks()] }, end),
    { onError },
  )
  try {
    if ('url' in target && options.port === undefined) {
      await serveStdio(gateway.server)
    } else {
      const { port = 0 } = options
      await using http = await serveHttp(gateway.server, { port })
      print(http.url)
      await over()
    }
  } finally {
    await gateway.close()
  }
  return 0
}
