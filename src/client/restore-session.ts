/**
 * A new session in place of one that the server has ended.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import { McpError } from '../protocol/errors.ts'
import type { Connection } from './connection.ts'
import { initialize } from './initialize.ts'

/**
 * Opens a new session if the server has ended the old one: one, however many requests find it ended.
 *
 * @throws {McpError} `SESSION_LOST` when that fails.
 */
export async function restoreSession(connection: Connection): Promise<void> {
  if (!connection.channel.lost) return
  await connection.restoreOnce(async () => {
    connection.attempts.length = 0
    try {
      await initialize(connection, {})
      const { logLevel, serverCapabilities, changes } = connection
      if (logLevel && serverCapabilities?.logging) {
        await connection.start('logging/setLevel', { level: logLevel }).result
      }
      await changes?.restore()
    } catch (cause) {
      throw new McpError('SESSION_LOST', 'The server ended the session', { cause })
    }
  })
}
