/**
 * The handshake of revisions with sessions: `initialize`, then `notifications/initialized`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
 */
import type { JsonObject } from '../protocol/types.ts'
import type { RevisionFacts } from '../protocol/revisions.ts'
import type { Connection } from './connection.ts'
import type { RequestOptions } from './request-options.ts'
import { chooseVersion, mayBeVersionError, versionMismatch, readSupported } from './versions.ts'

/** Whether to try other revisions with a server that lists none. */
const MAY_TRY_UNLISTED = true

/**
 * Opens a session and applies the revision that the server responds with.
 *
 * @param proposed The revision to propose. By default, the revision with sessions that the client prefers.
 * @throws {SdkError} See {@link propose}.
 */
export async function initialize(
  connection: Connection,
  options: RequestOptions,
  proposed?: RevisionFacts,
): Promise<void> {
  const completeHandshake = await propose(connection, options, MAY_TRY_UNLISTED, proposed)
  await completeHandshake()
}

/**
 * Requests a session. If the server rejects the revision and lists others, one of them is proposed. If the server
 * lists no revision, the older revisions are tried in turn.
 *
 * @param mayTryUnlisted Whether to try other revisions with a server that lists none.
 * @returns A function that applies the server's response and completes the handshake.
 * @throws {SdkError} `VERSION_MISMATCH` if the client and the server have no revision in common.
 */
export async function propose(
  connection: Connection,
  options: RequestOptions,
  mayTryUnlisted: boolean,
  proposed: RevisionFacts | undefined = connection.versions.legacy[0],
  untried: readonly RevisionFacts[] = connection.versions.legacy,
): Promise<() => Promise<void>> {
  const { modern, legacy } = connection.versions
  if (!proposed) throw versionMismatch(modern, 'an earlier revision')
  connection.setRevision(proposed)
  let result: JsonObject
  try {
    const { capabilities, info } = connection
    const params = { protocolVersion: proposed.version, capabilities, clientInfo: info }
    result = await connection.start('initialize', params, options).result
  } catch (error) {
    connection.attempts.push({ with: proposed.version, error })
    const remaining = untried.filter((facts) => facts !== proposed)
    const supported = readSupported(error)
    const mayTryNext = supported === undefined && mayTryUnlisted && mayBeVersionError(error)
    const next = mayTryNext ? remaining[0] : chooseVersion(remaining, supported)
    if (next) return propose(connection, options, mayTryUnlisted, next, remaining)
    throw supported && !modern[0] ? versionMismatch(legacy, supported, error) : error
  }
  const serverVersions = [result.protocolVersion]
  const agreedVersion = chooseVersion(legacy, serverVersions)
  if (!agreedVersion) throw versionMismatch(legacy, serverVersions)
  return () => {
    connection.applyServerInfo(agreedVersion, result)
    return connection.notify('notifications/initialized')
  }
}
