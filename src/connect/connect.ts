/**
 * Connecting, with all that a client can do, or with as little as calling needs.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/architecture
 */
import { requireKnown, type OptionNames } from '../patterns/known-options.ts'
import type { Transport } from '../protocol/transport.ts'
import { HttpSseTransport } from '../transport/http-sse/client.ts'
import { HandlerAnswers } from '../client/features/answers.ts'
import { ResultCache } from '../client/cache.ts'
import { handledCapabilities } from '../client/capabilities.ts'
import { Client } from '../client/client.ts'
import { Connection } from '../client/connection.ts'
import { LeanClient } from '../client/lean-client.ts'
import { noAnswers } from '../client/features/no-answers.ts'
import { open } from './open.ts'
import type { ConnectOptions, LeanOptions } from '../client/options.ts'
import { Subscriptions } from '../client/features/subscriptions.ts'

const LEAN_OPTIONS: OptionNames<LeanOptions> = {
  ...{ fetch: 1, headers: 1, auth: 1, maxMessageLength: 1, info: 1, revision: 1, discovered: 1 },
  ...{ eras: 1, capabilities: 1, extensions: 1, sendInfo: 1, timeoutMs: 1, maxTimeoutMs: 1 },
  ...{ probeTimeoutMs: 1, maxRounds: 1, maxPages: 1, maxListLength: 1 },
  ...{ validateOutput: 1, trace: 1, signal: 1, approve: 1 },
  ...{ onLog: 1, onNotification: 1, onError: 1 },
}
// Put together with the others where it is used, as bundlers keep what is spread
const MORE_OPTIONS: OptionNames<Omit<ConnectOptions, keyof LeanOptions>> = {
  ...{ cacheEntries: 1, maxInputs: 1, maxConcurrentInputs: 1 },
  ...{ onElicit: 1, onSample: 1, roots: 1 },
  ...{ onToolsChanged: 1, onPromptsChanged: 1, onResourcesChanged: 1, onResourceUpdated: 1 },
}

/**
 * Connects to a server.
 *
 * @param target The URL of an endpoint, or a transport: stdio, a message port, memory.
 * @throws {McpError} `INVALID_USE`, `VERSION_MISMATCH`, `NETWORK`, `TIMEOUT`, `UNAUTHORIZED`, `FORBIDDEN`,
 *   `HTTP`, `CLOSED`.
 * @throws {TypeError} when an option is unknown.
 * @throws {ProtocolError} What the server answered to the handshake.
 */
export async function connect(
  target: string | URL | Transport,
  options: ConnectOptions = {},
): Promise<Client> {
  requireKnown('The client', options, { ...LEAN_OPTIONS, ...MORE_OPTIONS })
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
  requireKnown('The client', options, LEAN_OPTIONS)
  const connection = new Connection(options)
  connection.answers = noAnswers(connection)
  const client = new LeanClient(connection)
  await open(connection, target)
  return client
}
