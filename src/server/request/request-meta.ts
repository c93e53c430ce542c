/**
 * The `_meta` of self-describing requests: revision, client and log level.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta
 */
import { ProtocolError } from '../../protocol/errors.ts'
import { UNSUPPORTED_PROTOCOL_VERSION } from '../../protocol/error-codes.ts'
import {
  META_CLIENT_CAPABILITIES,
  META_CLIENT_INFO,
  META_LOG_LEVEL,
  META_PROTOCOL_VERSION,
} from '../../protocol/meta.ts'
import type { RevisionFacts } from '../../protocol/revisions.ts'
import type { LoggingLevel, JsonObject } from '../../protocol/types.ts'
import { isImplementation, isObject } from '../../protocol/validate.ts'
import type { ClientFacts } from './exchange.ts'
import { isLoggingLevel } from './logging.ts'
import { isString, optional, requireMember } from './params.ts'

/** The parsed `_meta` of a self-describing request. */
export interface RequestMeta {
  /** The version that the client sent, possibly unsupported. */
  readonly version: string
  readonly client: ClientFacts
  readonly logLevel: LoggingLevel | undefined
}

/** Whether the params belong to a self-describing request. Such a request is not part of a session. */
export function isSelfDescribing(params: JsonObject | undefined): boolean {
  const meta = params?._meta
  return isObject(meta) && (META_PROTOCOL_VERSION in meta || META_CLIENT_CAPABILITIES in meta)
}

/**
 * Parses the `_meta` of a self-describing request.
 *
 * @throws {ProtocolError} `INVALID_PARAMS` if a required member is missing or has the wrong type.
 */
export function readRequestMeta(params: JsonObject | undefined): RequestMeta {
  const meta = requireMember(params ?? {}, '_meta', isObject)
  const version = requireMember(meta, META_PROTOCOL_VERSION, isString)
  const capabilities = requireMember(meta, META_CLIENT_CAPABILITIES, isObject)
  const info = requireMember(meta, META_CLIENT_INFO, optional(isImplementation))
  const logLevel = requireMember(meta, META_LOG_LEVEL, optional(isLoggingLevel))
  return { version, client: { info, capabilities }, logLevel }
}

/**
 * Returns the supported revision without sessions that has the given version.
 *
 * @throws {ProtocolError} `UNSUPPORTED_PROTOCOL_VERSION`, with the supported versions in `data`.
 */
export function requireStatelessRevision(
  revisions: readonly RevisionFacts[],
  version: string,
): RevisionFacts {
  const facts = revisions.find(
    (revision) => revision.version === version && revision.era === 'modern',
  )
  if (facts) return facts
  throw unsupportedVersion(revisions, version)
}

/** Creates the error that lists the supported versions. */
export function unsupportedVersion(
  revisions: readonly RevisionFacts[],
  requested: string,
): ProtocolError {
  const problem = `Unsupported protocol version "${requested}"`
  return noCommonRevision(revisions, UNSUPPORTED_PROTOCOL_VERSION, problem, requested)
}

/** Creates the error for clients that need a session: the server supports no revision with sessions. */
export function unsupportedSessions(
  revisions: readonly RevisionFacts[],
  code: number,
  requested: unknown,
): ProtocolError {
  return noCommonRevision(revisions, code, 'The server has no sessions', requested)
}

function noCommonRevision(
  revisions: readonly RevisionFacts[],
  code: number,
  problem: string,
  requested: unknown,
): ProtocolError {
  const supported = revisions.map(({ version }) => version)
  return new ProtocolError(code, `${problem}: use ${supported.join(', ')}`, {
    supported,
    requested,
  })
}
