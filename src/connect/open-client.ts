/**
 * Opens a client with the target and features that a preset provides.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/architecture
 */
import { explainAttempts } from '../client/attempts.ts'
import { Connection, type ConnectionParts } from '../client/connection.ts'
import type { ExtensionClient } from '../client/extension.ts'

/**
 * Connects a client. If connecting fails, the connection is closed.
 *
 * @throws {SdkError | ProtocolError} See `connect` of the presets.
 */
export async function openClient<Client extends ExtensionClient>(
  parts: ConnectionParts<Client>,
): Promise<Client> {
  const observed = parts.options.observe?.connect(parts) as Connection<Client> | undefined
  const connection = observed ?? new Connection(parts)
  try {
    await parts.target.open(connection)
  } catch (error) {
    await connection.close().catch(() => {})
    explainAttempts(error, connection.attempts)
    throw error
  }
  connection.changes?.start()
  return connection.client
}
