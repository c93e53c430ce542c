/**
 * Connecting: a preset gives the features, the target the way to the server.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/architecture
 */
import { explainAttempts } from '../client/attempts.ts'
import { Connection, type ConnectionParts } from '../client/connection.ts'
import type { ExtensionClient } from '../client/extension.ts'
import { requireTransport, type Transport } from '../protocol/transport.ts'
import { HttpTarget } from './http-target.ts'
import { TransportTarget } from './transport-target.ts'

/** What a preset makes clients of. */
export type ClientFeatures<Client extends ExtensionClient> = Pick<
  ConnectionParts<Client>,
  'capabilities' | 'compose'
>

/**
 * Connects a client of some features. A connection that fails to open is closed.
 *
 * @throws {McpError | ProtocolError} as `connect` of the presets.
 */
export async function openClient<Client extends ExtensionClient>(
  to: string | URL | Transport,
  options: ConnectionParts<Client>['options'],
  features: ClientFeatures<Client>,
): Promise<Client> {
  const target =
    typeof to === 'string' || to instanceof URL
      ? new HttpTarget(to)
      : new TransportTarget(requireTransport(to))
  const connection = new Connection({ options, target, ...features })
  try {
    await target.open(connection)
  } catch (error) {
    await connection.close().catch(() => {})
    explainAttempts(error, connection.attempts)
    throw error
  }
  connection.changes?.start()
  return connection.client
}
