/**
 * Opens a new session after the server has ended the old one.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import { SdkError } from '../protocol/errors.ts'
import type { Connection } from './connection.ts'
import { initialize } from './initialize.ts'

/**
 * Opens a new session if the server has ended the old one. Requests that fail concurrently share the
 * new session.
 *
 * @throws {SdkError} `SESSION_LOST` if no new session can be opened.
 */
export async function restoreSession(connection: Connection): Promise<void> {
  if (!connection.channel.lost) return
  await connection.restoreOnce(async () => {
    try {
      await initialize(connection, {})
      // Renews the subscriptions in the new session
      await connection.changes?.restore()
    } catch (cause) {
      throw new SdkError('SESSION_LOST', 'The server ended the session', { cause })
    }
  })
}
