/**
 * For tests of servers and clients: a real client that is connected in memory, recordings of messages, and
 * scripted peers, which can also violate the protocol.
 *
 * @module
 */
import { connect, type Client, type ConnectOptions } from '../presets/client.ts'
import { serveTransport, type ServeTransportOptions } from '../server/serve-transport.ts'
import type { BaseServer } from '../server/server.ts'
import { inMemoryTransports } from '../transport/in-memory.ts'

export { inMemoryTransports } from '../transport/in-memory.ts'
export { recordTransport, replayTransport } from './recording.ts'
export type { Recorder, Replay } from './recording.ts'
export { scriptedEvents, scriptedFetch } from './scripted-fetch.ts'
export type { ScriptedEvents, ScriptedFetch } from './scripted-fetch.ts'
export { scriptedPeer } from './scripted-peer.ts'
export type { ScriptedPeer } from './scripted-peer.ts'

/** Options of an in-memory connection. */
interface InMemoryOptions extends ConnectOptions {
  /** The caller's `ctx.principal`: short for `serve: { caller: { principal } }`. */
  readonly principal?: string
  /** How the server serves the connection. */
  readonly serve?: ServeTransportOptions
}

/**
 * Connects a client to a server in the same process. Closing the client ends the connection.
 *
 * @example
 * ```ts
 * import { createServer } from 'edgewise/server'
 * import { connectInMemory } from 'edgewise/testing'
 *
 * const server = createServer({ name: 'travel', version: '1.0.0' })
 * server.tool('greet', {}, () => 'Hello')
 *
 * await using client = await connectInMemory(server, { principal: 'alice' })
 * const { content } = await client.callTool('greet')
 * ```
 *
 * @throws {SdkError} The errors of `connect`, such as `VERSION_MISMATCH` if client and server have
 *   no revision in common.
 * @throws {TypeError} If the server was not created by `createServer`, or has a tool with
 *   `task: 'required'` but was not extended with `tasks()`.
 */
export function connectInMemory(
  server: BaseServer,
  { serve, principal, ...options }: InMemoryOptions = {},
): Promise<Client> {
  const [clientSide, serverSide] = inMemoryTransports()
  const caller = { ...serve?.caller, ...(principal !== undefined && { principal }) }
  // `serveTransport` resolves at the end of the connection, so only its failure is awaited here
  const failed = new Promise<never>((_resolve, reject) => {
    serveTransport(server, serverSide, { ...serve, caller }).catch(reject)
  })
  return Promise.race([connect(clientSide, options), failed])
}
