/**
 * Wraps a transport or a `fetch` function so that its failures are observed.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports
 */
import { SdkError } from '../protocol/errors.ts'
import type { Transport } from '../protocol/transport.ts'
import type { HttpOptions } from '../protocol/http-options.ts'

/** Wraps a transport to report when it closes. */
export function observeTransport(
  transport: Transport,
  onClosed: (reason: Error) => void,
): Transport {
  return {
    isPipe: transport.isPipe,
    start: (receiver) =>
      transport.start({
        message: (frame) => receiver.message(frame),
        malformed: (error) => receiver.malformed(error),
        closed: (reason) => {
          receiver.closed(reason)
          onClosed(reason ?? new SdkError('CLOSED', 'The server closed the connection'))
        },
      }),
    send: (frame) => transport.send(frame),
    close: () => transport.close(),
    ...(transport.restart && { restart: transport.restart.bind(transport) }),
  }
}

type Fetch = NonNullable<HttpOptions['fetch']>

/** Wraps a `fetch` function to report its failures. */
export function observeFetch(fetch: Fetch, onFailed: (error: Error) => void): Fetch {
  return async (url, init) => {
    try {
      return await fetch(url, init)
    } catch (error) {
      // An aborted request says nothing about the server
      if (!init.signal?.aborted && (error as Error)?.name !== 'AbortError') onFailed(error as Error)
      throw error
    }
  }
}
