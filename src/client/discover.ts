/**
 * Determines whether a server supports `server/discover` or uses sessions.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility-with-initialization-based-versions
 */
import { SdkError, ProtocolError, statusOf } from '../protocol/errors.ts'
import { METHOD_NOT_FOUND, UNSUPPORTED_PROTOCOL_VERSION } from '../protocol/error-codes.ts'
import { META_SERVER_INFO } from '../protocol/meta.ts'
import type { RevisionFacts } from '../protocol/revisions.ts'
import { isObject } from '../protocol/validate.ts'
import type { Connection } from './connection.ts'
import type { RequestOptions } from './request-options.ts'
import { chooseVersion, isModernError, versionMismatch, readSupported } from './versions.ts'

/** Why a server is assumed to use sessions. */
export interface LegacyEvidence {
  /** The error that the server responded with. */
  readonly error?: unknown
  /** The revision to propose, if the server listed those that it supports. */
  readonly version?: RevisionFacts
  /** Whether the server may use 2026-07-28 after all, in case it rejects `initialize` too. */
  readonly mayBeModern?: boolean
}

/** HTTP statuses with which older servers reject unknown requests. A response with 200 contains the error. */
const LEGACY_STATUSES = [200, 400, 404, 405, 406, 415]

/**
 * Requests `server/discover` and applies the server's answer.
 *
 * @param isLegacy Whether a failure shows that the server does not support 2026-07-28.
 * @param listedVersion The version that the server listed when it rejected the preferred version. It is
 *   tried once, even if it is the rejected version, which can happen while a server is being updated.
 * @returns Undefined if a revision was negotiated; otherwise why the server is assumed to use sessions.
 * @throws {SdkError} `VERSION_MISMATCH`, and every failure that says nothing about the revision: network
 *   failures, timeouts over HTTP, authorization, overload.
 * @throws {ProtocolError} An error that only servers using 2026-07-28 return.
 */
export async function discover(
  connection: Connection,
  options: RequestOptions,
  isLegacy: (error: unknown) => boolean,
  listedVersion?: RevisionFacts,
): Promise<LegacyEvidence | undefined> {
  const { modern, legacy } = connection.versions
  const version = listedVersion ?? modern[0]
  // Without a version, the client may use only revisions with sessions
  if (!version) return {}
  connection.setRevision(version)
  let supported: unknown
  let rejection: unknown
  try {
    const result = await connection.start('server/discover', {}, options).result
    const { capabilities, instructions, resultType, _meta } = result
    supported = result.supportedVersions
    if (!Array.isArray(supported) || !isObject(capabilities)) {
      // A server that answers any request, for example with `{}`, does not support discovery
      const isUnrelated = resultType === undefined && supported === undefined
      const code = isUnrelated ? 'UNSUPPORTED' : 'INVALID_MESSAGE'
      throw new SdkError(code, '"server/discover" returned an invalid result', { data: result })
    }
    const agreedVersion = chooseVersion(modern, supported)
    if (agreedVersion) {
      const serverInfo = isObject(_meta) ? _meta[META_SERVER_INFO] : undefined
      connection.applyServerInfo(agreedVersion, { capabilities, instructions, serverInfo })
      return undefined
    }
  } catch (error) {
    connection.attempts.push({ with: version.version, error })
    if (isLegacy(error)) {
      const { code, status } = error as ProtocolError
      return { error, mayBeModern: code === METHOD_NOT_FOUND && status === 404 }
    }
    if (!(error instanceof ProtocolError) || error.code !== UNSUPPORTED_PROTOCOL_VERSION)
      throw error
    rejection = error
    supported = readSupported(error)
    const nextVersion = listedVersion ? undefined : chooseVersion(modern, supported)
    if (nextVersion) return discover(connection, options, isLegacy, nextVersion)
  }
  const legacyVersion = chooseVersion(legacy, supported)
  if (legacyVersion) return { error: rejection, version: legacyVersion }
  throw versionMismatch([...modern, ...legacy], supported, rejection)
}

/** Whether a failure over HTTP shows that a server does not support 2026-07-28. */
export function isLegacyOverHttp(error: unknown): boolean {
  // The server responded, but not with a result of `server/discover`
  if ((error as SdkError).code === 'UNSUPPORTED') return true
  return !isModernError(error) && LEGACY_STATUSES.includes(statusOf(error) ?? 0)
}
