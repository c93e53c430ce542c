/**
 * Applies the discovery of an earlier connection, which saves a request.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/discover
 */
import type { Connection } from '../client/connection.ts'

/** Applies the option `discovery`. Returns whether it names a revision that may be used. */
export function applyDiscovery(connection: Connection): boolean {
  const { discovery } = connection.options
  const facts = connection.versions.modern.find(({ version }) => version === discovery?.revision)
  if (discovery && facts) connection.applyServerInfo(facts, discovery)
  return !!facts
}
