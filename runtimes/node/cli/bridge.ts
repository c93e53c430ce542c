/**
 * `edgewise bridge`: makes a remote server available to hosts that can only start programs, or makes a program available
 * to clients that support only HTTP. The client and the server may use any revision.
 */
import { createGateway } from '../../../src/presets/server.ts'
import { taskPolling } from '../../../src/tasks/index.ts'
import { serve } from '../serve.ts'
import { serveStdio } from '../serve-stdio.ts'
import type { Invocation } from './arguments.ts'
import { lifetime } from './interrupted.ts'
import { secretPath } from './local-site.ts'
import { open } from './open.ts'
import { print, problemPrinter } from './print.ts'
import { requireNoArguments, UsageError } from './usage.ts'

/**
 * Serves a program over HTTP, or a URL over stdio. With `--port`, a URL is served over HTTP. The command runs until
 * the client or the user ends it.
 *
 * @throws {SdkError} `CLOSED` if the program has exited, so that the caller can start it again.
 */
export async function bridge(invocation: Invocation): Promise<number> {
  const { target, options, commandArguments } = invocation
  requireNoArguments(commandArguments)
  const overStdio = 'url' in target && options.port === undefined
  if (overStdio && options.path !== undefined) throw new UsageError('"--path" needs "--port"')
  const onError = problemPrinter(options.verbose)
  const { end, untilEnd } = lifetime()
  const gateway = await createGateway(
    (clientOptions) => open(invocation, { ...clientOptions, extensions: [taskPolling()] }, end),
    { onError },
  )
  try {
    if (overStdio) {
      await serveStdio(gateway.server)
    } else {
      // The default path is secret, because anyone who knows the address can act with the user's rights
      const { port = 0, path = `${secretPath()}/mcp` } = options
      await using http = await serve(gateway.server, { port, path })
      print(http.url)
      await untilEnd()
    }
  } finally {
    await gateway.close()
  }
  return 0
}
