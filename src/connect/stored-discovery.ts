/**
 * Applies the stored discovery of an earlier connection, so that the client need not send `server/discover`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/discover
 */
import type { Connection } from '../client/connection.ts'

/**
 * Applies the option `discovery` if it names a modern revision that the client may use. Returns whether it
 * does.
 */
export function applyDiscovery(connection: Connection): boolean {
  const { discovery } = connection.options
  const facts = connection.versions.modern.find(({ version }) => version === discovery?.revision)
  if (discovery && facts) connection.applyServerInfo(facts, discovery)
  return !!facts
}
