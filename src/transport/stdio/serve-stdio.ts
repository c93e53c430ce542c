/**
 * The part of serving over stdio that all runtimes share.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */
import { serveTransport, type ServeTransportOptions } from '../../server/serve-transport.ts'
import { definitionOf } from '../../server/definition-of.ts'
import type { BaseServer } from '../../server/server.ts'
import { stdioTransport, type StdioTransportOptions } from './stdio.ts'

/** How a server is served over stdio. */
export interface ServeStdioOptions extends ServeTransportOptions, StdioTransportOptions {
  /**
   * How long the process may continue to run after the client has disconnected, in milliseconds. After this time, the
   * process exits, because a forgotten timer or socket could otherwise keep it alive forever. `Infinity` disables the
   * limit.
   *
   * @default 1000
   */
  exitAfterMs?: number
}

/** The operations of this process that `serveStandardStreams` needs. */
export interface StdioHost {
  readonly stdin: ReadableStream<Uint8Array>
  readonly stdout: WritableStream<Uint8Array>
  /** Listens for termination signals. Returns a function that removes the listener. */
  onTerminate(listener: () => void): () => void
  /** Exits after some milliseconds, if the process is still running. */
  exitAfter(ms: number): void
}

/**
 * Serves a server over the standard streams, until the client closes stdin or a termination signal
 * arrives. Then cancels requests in progress, and flushes sent messages.
 *
 * @throws {TypeError} If the server was not created by `createServer`.
 */
export async function serveStandardStreams(
  open: () => StdioHost,
  server: BaseServer,
  options: ServeStdioOptions,
): Promise<void> {
  // Throws if the server is invalid, before the streams are opened
  definitionOf(server)
  const { signal, exitAfterMs = 1000 } = options
  const host = open()
  const ending = new AbortController()
  const scheduleExit = (): void => {
    if (exitAfterMs !== Infinity) host.exitAfter(exitAfterMs)
  }
  const end = (): void => ending.abort()
  const terminate = (): void => {
    end()
    // Scheduled before the flush, because a client that does not read would block the flush forever
    scheduleExit()
  }
  signal?.addEventListener('abort', end)
  if (signal?.aborted) end()
  const unsubscribe = host.onTerminate(terminate)
  try {
    const transport = stdioTransport(host.stdin, host.stdout, options)
    const caller = { ...options.caller, isPipe: true }
    await serveTransport(server, transport, { ...options, caller, signal: ending.signal })
    await transport.close()
  } finally {
    signal?.removeEventListener('abort', end)
    unsubscribe()
    scheduleExit()
  }
}
