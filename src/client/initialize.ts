/**
 * The handshake of revisions with sessions: `initialize`, then `notifications/initialized`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
 */
import type { JsonObject } from '../protocol/types.ts'
import type { RevisionFacts } from '../protocol/revisions.ts'
import type { Connection } from './connection.ts'
import type { RequestOptions } from './request-options.ts'
import { chooseVersion, mayRefuseVersion, mismatch, supportedBy } from './versions.ts'

/**
 * Opens a session, proposing `first`, and applies the revision that the server responds with.
 *
 * @throws {SdkError} See {@link propose}.
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
 * Requests a session. The returned function accepts the server's response. If the server rejects the
 * revision and lists others, one of those is proposed. If the server lists none, the older revisions are
 * tried in turn.
 *
 * @param mayGuess Whether to try other revisions with a server that lists none.
 * @throws {SdkError} `VERSION_MISMATCH` if client and server have no revision in common.
 */
export async function propose(
  connection: Connection,
  options: RequestOptions,
  mayGuess: boolean,
  first: RevisionFacts | undefined = connection.versions.legacy[0],
  untried: readonly RevisionFacts[] = connection.versions.legacy,
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
    const remaining = untried.filter((facts) => facts !== first)
    const supported = supportedBy(error)
    // Not every server lists its revisions
    const isGuess = supported === undefined && mayGuess && mayRefuseVersion(error)
    const next = isGuess ? remaining[0] : chooseVersion(remaining, supported)
    if (next) return propose(connection, options, mayGuess, next, remaining)
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
