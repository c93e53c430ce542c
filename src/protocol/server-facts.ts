/**
 * What differs between the revisions for servers alone, as data. What clients have to know too is in
 * `revisions.ts`, so that they carry no more.
 *
 * @see https://modelcontextprotocol.io/docs/2026-07-28/learn/versioning
 */
import {
  HEADER_MISMATCH,
  INVALID_PARAMS,
  MISSING_REQUIRED_CLIENT_CAPABILITY,
  RESOURCE_NOT_FOUND,
  UNSUPPORTED_PROTOCOL_VERSION,
} from './errors.ts'
import type { Revision, RevisionFacts } from './revisions.ts'

/** What a server has to know of a revision; it has not what it does not mention. */
export interface ServerFacts {
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
  /** What `structuredContent` may be. */
  readonly structuredContent: 'none' | 'object' | 'any'
  /** Whether URLs have ids, whose completion is announced, and can be required by an error. */
  readonly elicitationIds?: boolean
}

// Written out, as bundlers leave out what is unused only where no object is spread
const oldest: ServerFacts = {
  resourceNotFound: RESOURCE_NOT_FOUND,
  structuredContent: 'none',
}

const facts: Readonly<Record<Revision, ServerFacts>> = {
  '2024-11-05': oldest,
  '2025-03-26': oldest,
  '2025-06-18': {
    resourceNotFound: RESOURCE_NOT_FOUND,
    structuredContent: 'object',
  },
  '2025-11-25': {
    primedStreams: true,
    argumentErrorsAsResult: true,
    resourceNotFound: RESOURCE_NOT_FOUND,
    structuredContent: 'object',
    elicitationIds: true,
  },
  '2026-07-28': {
    argumentErrorsAsResult: true,
    resourceNotFound: INVALID_PARAMS,
    reservedCodes: [
      HEADER_MISMATCH,
      MISSING_REQUIRED_CLIENT_CAPABILITY,
      UNSUPPORTED_PROTOCOL_VERSION,
    ],
    missingCapability: MISSING_REQUIRED_CLIENT_CAPABILITY,
    structuredContent: 'any',
  },
}

/** What a server has to know of a revision. */
export function serverFacts({ version }: RevisionFacts): ServerFacts {
  return facts[version]
}
