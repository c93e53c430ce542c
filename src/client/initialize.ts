/**
 * The handshake of the revisions with sessions: `initialize`, then `notifications/initialized`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
 */
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { RevisionFacts } from '../protocol/revisions.ts'
import type { Connection } from './connection.ts'
import type { RequestOptions } from './options.ts'
import { chooseVersion, mayRefuseVersion, mismatch, supportedBy } from './versions.ts'

/**
 * Opens a session, proposing `first`, and settles on the revision that the server answers.
 *
 * @throws {McpError} as {@link propose}.
 */
export async function initialize(
  connection: Connection,
  options: RequestOptions,
  first?: RevisionFacts,
): Promise<void> {
  const accept = await propose(connection, options, true, first)
  await accept()
}

/**
 * Asks for a session; the function that it gives accepts what the server offered. A server that refuses and lists its versions is asked
 * again with one of them; one that does not, with the older ones in turn.
 *
 * @param mayGuess Whether a server that lists no versions is asked again.
 * @throws {McpError} `VERSION_MISMATCH` when there is no revision that both speak.
 */
export async function propose(
  connection: Connection,
  options: RequestOptions,
  mayGuess: boolean,
  first: RevisionFacts | undefined = connection.versions.legacy[0],
  left: readonly RevisionFacts[] = connection.versions.legacy,
): Promise<() => Promise<void>> {
  const { modern, legacy } = connection.versions
  if (!first) throw mismatch(modern, 'an earlier revision')
  connection.setRevision(first)
  let result: JsonObject
  try {
    const { capabilities, info } = connection
    const params = { protocolVersion: first.version, capabilities, clientInfo: info }
    result = await connection.start('initialize', params, options).result
  } catch (error) {
    connection.attempts.push({ with: first.version, error })
    const others = left.filter((facts) => facts !== first)
    const supported = supportedBy(error)
    // Not every server says which revisions it has
    const isGuess = supported === undefined && mayGuess && mayRefuseVersion(error)
    const next = isGuess ? others[0] : chooseVersion(others, supported)
    if (next) return propose(connection, options, mayGuess, next, others)
    throw supported && !modern[0] ? mismatch(legacy, supported, error) : error
  }
  const versions = [result.protocolVersion]
  const agreed = chooseVersion(legacy, versions)
  if (!agreed) throw mismatch(legacy, versions)
  return () => {
    connection.applyServerInfo(agreed, result)
    return connection.notify('notifications/initialized')
  }
}
