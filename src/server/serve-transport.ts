/**
 * Serves clients of both eras on a duplex connection, such as stdio.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */
import { requireTransport, type Transport } from '../protocol/transport.ts'
import { definitionOf } from './definition-of.ts'
import { Outbox } from './outbox.ts'
import type { InputOptions } from './request/ask-mode.ts'
import type { Authorizer, Caller } from './request/exchange.ts'
import type { BaseServer } from './server.ts'
import { ServerConnection } from './server-connection.ts'

/** Options of {@link serveTransport}. */
export interface ServeTransportOptions extends InputOptions {
  /** What your program knows about the client, apart from its messages. */
  caller?: Caller
  /** Decides which tasks the client may access. HTTP+SSE passes its option `auth` here. */
  auth?: Authorizer
  /** Ends the service when aborted: listeners end gracefully, then the connection closes. */
  signal?: AbortSignal
}

/**
 * Serves a server on one connection, with clients of every revision. Resolves when the connection
 * closes.
 *
 * @example
 * ```ts
 * import { createServer, serveTransport } from 'edgewise/server'
 * import { messagePortTransport } from 'edgewise/transport'
 *
 * const server = createServer({ name: 'travel', version: '1.0.0' })
 * const { port1, port2 } = new MessageChannel()
 * const served = serveTransport(server, messagePortTransport(port1))
 * // Pass port2 to the client; "served" resolves when the connection closes
 * ```
 *
 * @throws {TypeError} If the server was not created by `createServer`, or has a tool with
 *   `task: 'required'` but was not extended with `tasks()`, or `transport` does not implement
 *   `Transport`.
 * @throws {SdkError} `INVALID_USE` if a secret is too short; the error of starting the transport.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#custom-transports
 */
export async function serveTransport(
  server: BaseServer,
  transport: Transport,
  options: ServeTransportOptions = {},
): Promise<void> {
  const definition = definitionOf(server)
  requireTransport(transport)
  const { caller, auth, signal, inputTimeoutMs } = options
  const report = (error: unknown): void => definition.report(error)
  const outbox = new Outbox(transport, report)
  const askMode = definition.input.configure(options)
  const connection = new ServerConnection(definition, outbox, {
    caller,
    authorizer: auth,
    askMode,
    inputTimeoutMs,
  })
  const shutDown = async (): Promise<void> => {
    connection.endListeners()
    // Listeners send their results in microtasks, which run before this timeout
    await new Promise((resolve) => setTimeout(resolve))
    await transport.close()
  }
  const onAbort = (): void => {
    void shutDown()
  }
  signal?.addEventListener('abort', onAbort)
  await new Promise<void>((resolve, reject) => {
    const started = transport.start({
      message(frame) {
        connection
          .receive(frame)
          .then((answer) => answer && outbox.reply(answer))
          .catch(report)
      },
      malformed(error) {
        const answer = connection.refuse(error.partialMessage, error)
        // Answers to earlier frames are sent in microtasks: the answer to this frame must follow them
        if (answer) queueMicrotask(() => void outbox.send(answer))
      },
      closed: () => resolve(),
    })
    Promise.resolve(started).then(() => {
      if (signal?.aborted) onAbort()
    }, reject)
  })
  signal?.removeEventListener('abort', onAbort)
  connection.close()
}
