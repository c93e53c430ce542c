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
    try {
      await initialize(connection, {})
      await connection.changes?.restore()
    } catch (cause) {
      throw new McpError('SESSION_LOST', 'The server ended the session', { cause })
    }
  })
}
