/**
 * What every runtime does to serve over its standard streams.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */
import { serveTransport, type ServeTransportOptions } from '../../server/serve-transport.ts'
import { definitionOf } from '../../server/definition.ts'
import type { BaseServer } from '../../server/server.ts'
import { stdioTransport, type StdioTransportOptions } from './stdio.ts'

/** How a server is served over stdio. */
export interface ServeStdioOptions extends ServeTransportOptions, StdioTransportOptions {
  /**
   * How long the program may still run when the client is gone, in milliseconds, before it is
   * ended: a timer or a socket that somebody forgot would keep it for ever. `Infinity` leaves it
   * alone.
   *
   * @default 1000
   */
  exitAfterMs?: number
}

/** What serving over stdio needs of the program that it happens in. */
export interface StdioHost {
  readonly stdin: ReadableStream<Uint8Array>
  readonly stdout: WritableStream<Uint8Array>
  /** Listens for the system's wish that the program end; returns what stops that. */
  onTerminate(listener: () => void): () => void
  /** Ends the program after some milliseconds, if it still runs then. */
  exitAfter(ms: number): void
}

/**
 * Opens the standard streams and serves until the client closes stdin, or the program is to end;
 * what runs is cancelled then, and what was sent is flushed.
 *
 * @throws {TypeError} When the server was not made by `createServer`.
 */
export async function serveStdioOn(
  open: () => StdioHost,
  server: BaseServer,
  options: ServeStdioOptions,
): Promise<void> {
  definitionOf(server)
  const { signal, exitAfterMs = 1000 } = options
  const host = open()
  const ending = new AbortController()
  const exit = (): void => {
    if (exitAfterMs !== Infinity) host.exitAfter(exitAfterMs)
  }
  const end = (): void => ending.abort()
  const terminate = (): void => {
    end()
    // From here, as a client that reads nothing would hold up the flush.
    exit()
  }
  signal?.addEventListener('abort', end)
  if (signal?.aborted) end()
  const ignore = host.onTerminate(terminate)
  try {
    const transport = stdioTransport(host.stdin, host.stdout, options)
    await serveTransport(server, transport, { ...options, signal: ending.signal })
    await transport.close()
  } finally {
    signal?.removeEventListener('abort', end)
    ignore()
    exit()
  }
}
