/**
 * Ways to a server that tell when something goes wrong on them, whoever uses them.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports
 */
import { McpError } from '../protocol/errors.ts'
import type { Transport } from '../protocol/transport.ts'
import type { ConnectOptions } from '../client/options.ts'

/** A transport whose end is noticed. */
export function watchTransport(transport: Transport, closed: (reason: Error) => void): Transport {
  return {
    start: (receiver) =>
      transport.start({
        message: (frame) => receiver.message(frame),
        malformed: (error) => receiver.malformed(error),
        closed: (reason) => {
          receiver.closed(reason)
          closed(reason ?? new McpError('CLOSED', 'The server closed the connection'))
        },
      }),
    send: (frame) => transport.send(frame),
    close: () => transport.close(),
    ...(transport.restart && { restart: () => transport.restart?.() ?? Promise.resolve() }),
  }
}

type Fetch = NonNullable<ConnectOptions['fetch']>

/** A `fetch` whose failures are noticed. */
export function watchFetch(send: Fetch, failed: (error: Error) => void): Fetch {
  return async (url, init) => {
    try {
      return await send(url, init)
    } catch (error) {
      // What somebody gave up tells nothing of the server
      if (!init.signal?.aborted && (error as Error)?.name !== 'AbortError') failed(error as Error)
      throw error
    }
  }
}
