/**
 * What a request says of itself where every request does: revision, client, log level.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta
 */
import {
  INVALID_PARAMS,
  ProtocolError,
  UNSUPPORTED_PROTOCOL_VERSION,
} from '../../protocol/errors.ts'
import type { JsonObject } from '../../protocol/jsonrpc.ts'
import {
  META_CLIENT_CAPABILITIES,
  META_CLIENT_INFO,
  META_LOG_LEVEL,
  META_PROTOCOL_VERSION,
} from '../../protocol/meta.ts'
import type { RevisionFacts } from '../../protocol/revisions.ts'
import type { LoggingLevel } from '../../protocol/types.ts'
import { isImplementation, isObject } from '../../protocol/validate.ts'
import type { ClientFacts } from './exchange.ts'
import { isLoggingLevel } from './logging.ts'

/** What a request says of itself. */
export interface RequestMeta {
  /** The version as the client wrote it; may be one that is not supported. */
  readonly version: string
  readonly client: ClientFacts
  readonly logLevel: LoggingLevel | undefined
}

/** Whether params belong to a request that describes itself, and so to no session. */
export function describesItself(params: JsonObject | undefined): boolean {
  const meta = params?._meta
  return isObject(meta) && (META_PROTOCOL_VERSION in meta || META_CLIENT_CAPABILITIES in meta)
}

/**
 * Reads what a request says of itself.
 *
 * @throws {ProtocolError} `INVALID_PARAMS` when something required is missing or ill-typed.
 */
export function readRequestMeta(params: JsonObject | undefined): RequestMeta {
  const meta = params?._meta
  if (!isObject(meta)) throw invalid('_meta')
  const version = meta[META_PROTOCOL_VERSION]
  const capabilities = meta[META_CLIENT_CAPABILITIES]
  const info = meta[META_CLIENT_INFO]
  const logLevel = meta[META_LOG_LEVEL]
  if (typeof version !== 'string') throw invalid(META_PROTOCOL_VERSION)
  if (!isObject(capabilities)) throw invalid(META_CLIENT_CAPABILITIES)
  if (info !== undefined && !isImplementation(info)) throw invalid(META_CLIENT_INFO)
  if (logLevel !== undefined && !isLoggingLevel(logLevel)) throw invalid(META_LOG_LEVEL)
  return { version, client: { info, capabilities }, logLevel }
}

/**
 * The facts of a stateless revision that the server speaks.
 *
 * @throws {ProtocolError} `UNSUPPORTED_PROTOCOL_VERSION`, whose `data` says what is supported.
 */
export function requireStatelessRevision(
  revisions: readonly RevisionFacts[],
  version: string,
): RevisionFacts {
  const facts = revisions.find((each) => each.version === version && each.era === 'modern')
  if (facts) return facts
  throw unsupportedVersion(revisions, version)
}

/** The error that says which versions the server speaks. */
export function unsupportedVersion(
  revisions: readonly RevisionFacts[],
  requested: string,
): ProtocolError {
  const why = `Unsupported protocol version "${requested}", this server`
  return notSpoken(revisions, UNSUPPORTED_PROTOCOL_VERSION, why, requested)
}

/** The error, of any code, that says that no revision which the server speaks has sessions. */
export function noSessions(
  revisions: readonly RevisionFacts[],
  code: number,
  requested: unknown,
): ProtocolError {
  return notSpoken(revisions, code, 'This server has no sessions, it', requested)
}

function notSpoken(
  revisions: readonly RevisionFacts[],
  code: number,
  why: string,
  requested: unknown,
): ProtocolError {
  const supported = revisions.map(({ version }) => version)
  return new ProtocolError(code, `${why} speaks ${supported.join(', ')}`, { supported, requested })
}

function invalid(key: string): ProtocolError {
  return new ProtocolError(INVALID_PARAMS, `The request lacks a valid "${key}"`)
}
