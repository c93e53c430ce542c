/**
 * Which revisions the client may speak, and which of them a server speaks too.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
 */
import {
  HEADER_MISMATCH,
  McpError,
  MISSING_REQUIRED_CLIENT_CAPABILITY,
  type ProtocolError,
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
 * @throws {McpError} `INVALID_USE` when it names a revision that does not exist, or none.
 */
export function allowedVersions({ revision }: ConnectOptions): Versions {
  const names = typeof revision === 'string' ? [revision] : revision
  const allowed = names?.map((name) => {
    const facts = findRevision(name)
    if (!facts) throw new McpError('INVALID_USE', `There is no revision "${name}"`)
    return facts
  })
  if (allowed?.length === 0) throw new McpError('INVALID_USE', 'No revision is allowed')
  const all = allowed ?? revisions
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
  return Array.isArray(supported)
    ? ours.find((facts) => supported.includes(facts.version))
    : undefined
}

/** The versions that an error lists as supported. */
export function supportedBy(error: ProtocolError): unknown {
  return isObject(error.data) ? error.data.supported : undefined
}

/** Whether only servers of 2026-07-28 answer with this code. */
export function isModernError(code: number): boolean {
  return (
    code === HEADER_MISMATCH ||
    code === MISSING_REQUIRED_CLIENT_CAPABILITY ||
    code === UNSUPPORTED_PROTOCOL_VERSION
  )
}

/** The error that says that client and server have no revision in common. */
export function mismatch(
  ours: readonly RevisionFacts[],
  theirs: unknown,
  cause?: unknown,
): McpError {
  const wanted = ours.map((facts) => `"${facts.version}"`).join(', ')
  const offered = Array.isArray(theirs)
    ? theirs.map((one) => `"${one}"`).join(', ')
    : String(theirs)
  return new McpError('VERSION_MISMATCH', `The client speaks ${wanted}; the server ${offered}`, {
    ...(cause !== undefined && { cause }),
    data: { supported: theirs, requested: ours.map((facts) => facts.version) },
  })
}
