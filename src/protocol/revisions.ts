/**
 * What differs between the revisions of the protocol, as data: the one table that is asked.
 *
 * @see https://modelcontextprotocol.io/specification/versioning
 */
import {
  HEADER_MISMATCH,
  INVALID_PARAMS,
  MISSING_REQUIRED_CLIENT_CAPABILITY,
  RESOURCE_NOT_FOUND,
  UNSUPPORTED_PROTOCOL_VERSION,
} from './errors.ts'

/** A revision of the protocol, named by its date. */
export type Revision = '2024-11-05' | '2025-03-26' | '2025-06-18' | '2025-11-25' | '2026-07-28'

/** What one revision has and asks; it has not what it does not mention. */
export interface RevisionFacts {
  readonly version: Revision
  /** With sessions and `initialize` (legacy), or stateless with everything on each request. */
  readonly era: 'legacy' | 'modern'
  /** Whether several messages may share one array. */
  readonly batches?: boolean
  /** Whether HTTP requests after `initialize` must name the version in a header. */
  readonly versionHeader?: boolean
  /** Whether a stream may begin with an event that has an id and no data, and be polled. */
  readonly primedStreams?: boolean
  /** Whether arguments that a tool's schema refuses are a result with `isError`. */
  readonly argumentErrorsAsResult?: boolean
  /** The code of "no such resource". */
  readonly resourceNotFound: number
  /** Which codes from -32099 to -32000 exist; where that is not said, they are free. */
  readonly reservedCodes?: readonly number[]
  /** The code of "the client lacks a capability", where there is one. */
  readonly missingCapability?: number
  /** `audio` content, tool annotations, `progress.message`, the `completions` capability. */
  readonly audio?: boolean
  /** `title`, `resource_link`, structured output, `_meta` on objects, completion context. */
  readonly titles?: boolean
  /** Icons, descriptions of implementations, sampling with tools, rich form fields. */
  readonly icons?: boolean
  /** What `structuredContent` may be. */
  readonly structuredContent: 'none' | 'object' | 'any'
  /** The modes in which a client can be asked for input. */
  readonly elicitation: readonly ('form' | 'url')[]
  /** Whether URLs have ids, whose completion is announced, and can be required by an error. */
  readonly elicitationIds?: boolean
  /** Which flavour of tasks exists. */
  readonly tasks: 'none' | 'core' | 'extension'
}

const v20241105: RevisionFacts = {
  version: '2024-11-05',
  era: 'legacy',
  resourceNotFound: RESOURCE_NOT_FOUND,
  structuredContent: 'none',
  elicitation: [],
  tasks: 'none',
}
const v20250326: RevisionFacts = { ...v20241105, version: '2025-03-26', batches: true, audio: true }
const v20250618: RevisionFacts = {
  ...v20250326,
  version: '2025-06-18',
  batches: false,
  versionHeader: true,
  titles: true,
  structuredContent: 'object',
  elicitation: ['form'],
}
const v20251125: RevisionFacts = {
  ...v20250618,
  version: '2025-11-25',
  primedStreams: true,
  argumentErrorsAsResult: true,
  icons: true,
  elicitation: ['form', 'url'],
  elicitationIds: true,
  tasks: 'core',
}
const v20260728: RevisionFacts = {
  ...v20251125,
  version: '2026-07-28',
  era: 'modern',
  primedStreams: false,
  resourceNotFound: INVALID_PARAMS,
  missingCapability: MISSING_REQUIRED_CLIENT_CAPABILITY,
  reservedCodes: [
    HEADER_MISMATCH,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    UNSUPPORTED_PROTOCOL_VERSION,
  ],
  structuredContent: 'any',
  elicitationIds: false,
  tasks: 'extension',
}

/** Every revision, newest first, which is also the order of preference. */
export const revisions: readonly RevisionFacts[] = [
  v20260728,
  v20251125,
  v20250618,
  v20250326,
  v20241105,
]

/** The revision that HTTP requests speak when neither a session nor a header says. */
export const ASSUMED_REVISION: RevisionFacts = v20250326
/** The newest revision with sessions. */
export const LATEST_LEGACY: RevisionFacts = v20251125
/** The newest stateless revision. */
export const LATEST_MODERN: RevisionFacts = v20260728

/** The facts of a revision, or nothing when the text names none. Versions compare by equality. */
export function findRevision(version: unknown): RevisionFacts | undefined {
  return revisions.find((facts) => facts.version === version)
}
