/**
 * Which revisions the client may speak, and which of them a server speaks too.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
 */
import {
  HEADER_MISMATCH,
  McpError,
  METHOD_NOT_FOUND,
  type ProtocolError,
  statusOf,
  UNSUPPORTED_PROTOCOL_VERSION,
} from '../protocol/errors.ts'
import { findRevision, revisions, type RevisionFacts } from '../protocol/revisions.ts'
import { isObject } from '../protocol/validate.ts'
import type { ConnectOptions } from './options.ts'

/** The revisions that a client may speak, the most wanted first, apart by era. */
export interface Versions {
  readonly modern: readonly RevisionFacts[]
  readonly legacy: readonly RevisionFacts[]
}

/**
 * Reads the `revision` option.
 *
 * @throws {McpError} `INVALID_USE` when it names a revision that does not exist.
 */
export function allowedVersions({ revision }: ConnectOptions): Versions {
  const all =
    revision === undefined
      ? revisions
      : [revision].flat().map((name) => {
          const facts = findRevision(name)
          if (!facts) throw new McpError('INVALID_USE', `There is no revision "${name}"`)
          return facts
        })
  return {
    modern: all.filter((facts) => facts.era === 'modern'),
    legacy: all.filter((facts) => facts.era === 'legacy'),
  }
}

/** The most wanted of our revisions that the server supports. */
export function chooseVersion(
  ours: readonly RevisionFacts[],
  supported: unknown,
): RevisionFacts | undefined {
  return ours.find(({ version }) => Array.isArray(supported) && supported.includes(version))
}

/** The versions that an error lists as supported. */
export function supportedBy(error: unknown): unknown {
  const data = isObject(error) ? error.data : undefined
  return isObject(data) ? data.supported : undefined
}

/** Whether only servers of 2026-07-28 fail in this way. */
export function isModernError(error: unknown): boolean {
  const code = isObject(error) ? Number(error.code) : 0
  return code >= UNSUPPORTED_PROTOCOL_VERSION && code <= HEADER_MISMATCH
}

/** Whether a refused session may be about its revision, which the server then does not say. */
export function mayRefuseVersion(error: unknown): boolean {
  if (isModernError(error)) return false
  const { code, status } = error as ProtocolError
  return statusOf(error) === 400 || (Number.isInteger(code) && code !== METHOD_NOT_FOUND && !status)
}

/** The error that says that client and server have no revision in common. */
export function mismatch(
  ours: readonly RevisionFacts[],
  supported: unknown,
  cause?: unknown,
): McpError {
  const requested = ours.map((facts) => facts.version)
  const what = `The client speaks ${String(requested)}, the server ${String(supported)}`
  return new McpError('VERSION_MISMATCH', what, { cause, data: { supported, requested } })
}
