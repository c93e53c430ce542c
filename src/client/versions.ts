/**
 * The revisions that the client may use, and which of them a server supports.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
 */
import { SdkError, type ProtocolError, statusOf } from '../protocol/errors.ts'
import {
  HEADER_MISMATCH,
  METHOD_NOT_FOUND,
  UNSUPPORTED_PROTOCOL_VERSION,
} from '../protocol/error-codes.ts'
import { findRevision, revisions, type RevisionFacts } from '../protocol/revisions.ts'
import { memberAt } from '../protocol/validate.ts'
import type { ConnectOptions } from './options.ts'

/** The revisions that a client may use, in order of preference. */
export interface Versions {
  /** The revisions since 2026-07-28. */
  readonly modern: readonly RevisionFacts[]
  /** The revisions before 2026-07-28. */
  readonly legacy: readonly RevisionFacts[]
}

/**
 * Reads the `revision` option.
 *
 * @throws {SdkError} `INVALID_USE` if it names a revision that does not exist.
 */
export function allowedVersions({ revision }: ConnectOptions): Versions {
  const allowed =
    revision === undefined
      ? revisions
      : [revision].flat().map((name) => {
          const facts = findRevision(name)
          if (!facts) throw new SdkError('INVALID_USE', `Unknown revision: "${name}"`)
          return facts
        })
  return {
    modern: allowed.filter((facts) => facts.era === 'modern'),
    legacy: allowed.filter((facts) => facts.era === 'legacy'),
  }
}

/** The client's most preferred revision that the server supports. */
export function chooseVersion(
  ours: readonly RevisionFacts[],
  supported: unknown,
): RevisionFacts | undefined {
  return ours.find(({ version }) => Array.isArray(supported) && supported.includes(version))
}

/** The revisions that an error lists as supported. */
export function readSupported(error: unknown): unknown {
  return memberAt(error, ['data', 'supported'])
}

/** Whether the error has a code that only servers of 2026-07-28 use. */
export function isModernError(error: unknown): boolean {
  const code = Number(memberAt(error, ['code']))
  // The codes are consecutive negative numbers
  return code >= UNSUPPORTED_PROTOCOL_VERSION && code <= HEADER_MISMATCH
}

/** Whether the error of `initialize` may be due to the revision, although the server does not say so. */
export function mayBeVersionError(error: unknown): boolean {
  if (isModernError(error)) return false
  const { code, status } = error as ProtocolError
  return statusOf(error) === 400 || (Number.isInteger(code) && code !== METHOD_NOT_FOUND && !status)
}

/** The error for a client and a server without a common revision. */
export function versionMismatch(
  ours: readonly RevisionFacts[],
  supported: unknown,
  cause?: unknown,
): SdkError {
  const requested = ours.map((facts) => facts.version)
  const message = `The client speaks ${String(requested)}, the server ${String(supported)}`
  return new SdkError('VERSION_MISMATCH', message, { cause, data: { supported, requested } })
}
