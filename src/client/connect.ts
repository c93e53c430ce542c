/**
 * Connecting, with all that a client can do, or with as little as calling needs.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/architecture
 */
import type { Transport } from '../protocol/transport.ts'
import { HttpSseTransport } from '../transport/http-sse-client.ts'
import { HandlerAnswers } from './answers.ts'
import { ResultCache } from './cache.ts'
import { handledCapabilities } from './capabilities.ts'
import { Client } from './client.ts'
import { Connection } from './connection.ts'
import { LeanClient } from './lean-client.ts'
import { noAnswers } from './no-answers.ts'
import { open } from './open.ts'
import type { ConnectOptions, LeanOptions } from './options.ts'
import { Subscriptions } from './subscriptions.ts'

/**
 * Connects to a server.
 *
 * @param target The URL of an endpoint, or a transport: stdio, a message port, memory.
 * @throws {McpError} `INVALID_USE`, `VERSION_MISMATCH`, `NETWORK`, `TIMEOUT`, `UNAUTHORIZED`, `FORBIDDEN`,
 *   `HTTP`, `CLOSED`.
 * @throws {ProtocolError} What the server answered to the handshake.
 */
export async function connect(
  target: string | URL | Transport,
  options: ConnectOptions = {},
): Promise<Client> {
  const connection = new Connection(options, handledCapabilities(options))
  connection.cache = new ResultCache(options.cacheEntries ?? 256)
  connection.createHttpSse = (url, http) => new HttpSseTransport(url, http)
  const answers = (connection.answers = new HandlerAnswers(connection, options))
  const subscriptions = (connection.listening = new Subscriptions(connection, options))
  const client = new Client(connection, answers, subscriptions)
  await open(connection, target)
  subscriptions.start()
  return client
}

/**
 * Connects to a server with a smaller client, which only calls: it does what {@link connect}'s does,
 * in every revision, but answers no requests for input, listens to no changes, caches no results and
 * does not fall back to HTTP+SSE, and nothing that does so is loaded.
 *
 * @param target The URL of an endpoint, or a transport: stdio, a message port, memory.
 * @throws {McpError | ProtocolError} as {@link connect}.
 */
export async function connectLean(
  target: string | URL | Transport,
  options: LeanOptions = {},
): Promise<LeanClient> {
  const connection = new Connection(options)
  connection.answers = noAnswers(connection)
  const client = new LeanClient(connection)
  await open(connection, target)
  return client
}
