/**
 * A client and a server in one program, for tests of servers.
 *
 * @module
 */
import type { Client } from '../client/client.ts'
import { connect } from '../client/connect.ts'
import type { ConnectOptions } from '../client/options.ts'
import { serveTransport, type ConnectionOptions } from '../server/connection.ts'
import type { Server } from '../server/server.ts'
import { inMemoryTransports } from '../transport/in-memory.ts'

/** Options of {@link connectInMemory}: those of `connect`, and how the server is served. */
export interface InMemoryOptions extends ConnectOptions {
  /** How the server is served: who calls, limits. */
  readonly connection?: ConnectionOptions
}

/**
 * Connects a client to a server without a network: messages are passed as JSON text.
 *
 * ```ts
 * await using client = await connectInMemory(server, { revision: '2025-11-25' })
 * ```
 *
 * @param options All options of `connect`; `revision` picks what is spoken, the newest by default.
 * @throws {TypeError} when the server was not made by `createServer`.
 * @throws {McpError} `VERSION_MISMATCH` when the server does not speak the revision.
 */
export function connectInMemory(server: Server, options: InMemoryOptions = {}): Promise<Client> {
  const [near, far] = inMemoryTransports()
  // Serving lasts as long as the connection, so only its failure can be waited for.
  const failed = new Promise<never>((_resolve, reject) => {
    serveTransport(server, far, options.connection).catch(reject)
  })
  return Promise.race([connect(near, options), failed])
}
