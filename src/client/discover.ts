/**
 * Finds out what a server is: one that is asked by `server/discover`, or one with sessions.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility
 */
import {
  McpError,
  METHOD_NOT_FOUND,
  ProtocolError,
  UNSUPPORTED_PROTOCOL_VERSION,
} from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { META_SERVER_INFO } from '../protocol/meta.ts'
import type { RevisionFacts } from '../protocol/revisions.ts'
import type { Implementation } from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'
import type { Connection } from './connection.ts'
import type { RequestOptions } from './options.ts'
import { chooseVersion, isModernError, mismatch, supportedBy, type Versions } from './versions.ts'

/** What a probe found. */
export type Finding =
  /** A server of 2026-07-28, which has been settled on. */
  | { readonly era: 'modern' }
  /** A server that does not know `server/discover`. */
  | {
      readonly era: 'legacy'
      /** What it answered. */
      readonly error: unknown
      /** The revision to propose, when the server said which it has. */
      readonly first?: RevisionFacts | undefined
      /** Whether it may yet be a server of 2026-07-28, should it refuse `initialize` too. */
      readonly doubtful?: boolean
    }

/**
 * Asks `server/discover`.
 *
 * @param mayRepeat Whether a server that refuses a version and names it as supported, as one in the
 *   middle of an update may, is asked again.
 * @throws {McpError} `VERSION_MISMATCH`; whatever is no evidence: network failures, timeouts over
 *   HTTP, authorization, overload.
 * @throws {ProtocolError} An error that only a server of 2026-07-28 gives.
 */
export async function probe(
  connection: Connection,
  versions: Versions,
  options: RequestOptions,
  mayRepeat = true,
): Promise<Finding> {
  const [newest] = versions.modern
  if (!newest) return { era: 'legacy', error: undefined }
  connection.speak(newest)
  const call = connection.start('server/discover', {}, options)
  try {
    return adopt(connection, versions, await call.result)
  } catch (error) {
    if (error instanceof ProtocolError && error.code === UNSUPPORTED_PROTOCOL_VERSION) {
      return other(connection, versions, error, options, mayRepeat)
    }
    if (!isLegacyEvidence(error, call.status, connection.channel.http)) throw error
    const { status } = call
    const doubtful =
      status === 404 && error instanceof ProtocolError && error.code === METHOD_NOT_FOUND
    return { era: 'legacy', error, doubtful }
  }
}

/** Whether a failure tells that a server does not speak 2026-07-28. */
export function isLegacyEvidence(
  error: unknown,
  status: number | undefined,
  http: boolean,
): boolean {
  if (error instanceof ProtocolError && isModernError(error.code)) return false
  if (!http) {
    return (
      error instanceof ProtocolError ||
      (error instanceof McpError && (error.code === 'TIMEOUT' || error.code === 'UNSUPPORTED'))
    )
  }
  if (error instanceof McpError && error.code !== 'HTTP' && error.code !== 'UNSUPPORTED') {
    return false
  }
  return status === 200 || [400, 404, 405, 406, 415].includes(status ?? 0)
}

/** Goes on with another version after the server refused the first. */
async function other(
  connection: Connection,
  { modern, legacy }: Versions,
  error: ProtocolError,
  options: RequestOptions,
  mayRepeat: boolean,
): Promise<Finding> {
  const supported = supportedBy(error)
  const refused = modern.slice(0, 1)
  const again = mayRepeat ? chooseVersion(refused, supported) : undefined
  const next = chooseVersion(modern.slice(1), supported) ?? again
  if (next) return probe(connection, { modern: [next], legacy }, options, next !== again)
  const first = chooseVersion(legacy, supported)
  if (first) return { era: 'legacy', error, first }
  throw mismatch([...modern, ...legacy], supported, error)
}

/** Settles on what a discover result says. */
export function adopt(connection: Connection, versions: Versions, result: JsonObject): Finding {
  const { supportedVersions, capabilities, instructions, resultType, _meta } = result
  if (!Array.isArray(supportedVersions) || !isObject(capabilities)) {
    const modern = resultType !== undefined || supportedVersions !== undefined
    throw new McpError(
      modern ? 'INVALID_MESSAGE' : 'UNSUPPORTED',
      '"server/discover" got a result that it cannot have',
      { data: result },
    )
  }
  const agreed = chooseVersion(versions.modern, supportedVersions)
  if (!agreed) {
    const first = chooseVersion(versions.legacy, supportedVersions)
    if (first) return { era: 'legacy', error: undefined, first }
    throw mismatch([...versions.modern, ...versions.legacy], supportedVersions)
  }
  connection.speak(agreed)
  connection.serverCapabilities = capabilities
  connection.instructions = typeof instructions === 'string' ? instructions : undefined
  connection.serverInfo = readInfo(isObject(_meta) ? _meta[META_SERVER_INFO] : undefined)
  return { era: 'modern' }
}

/** What a server says of itself; nothing when that is not usable. */
export function readInfo(info: unknown): Implementation | undefined {
  if (!isObject(info)) return undefined
  const { name, version } = info
  return typeof name === 'string' && typeof version === 'string'
    ? { ...info, name, version }
    : undefined
}
