/**
 * The differences between the protocol revisions that only servers need, as data. They are separate
 * from `revisions.ts`, which clients need too, to keep clients small.
 *
 * @see https://modelcontextprotocol.io/docs/2026-07-28/learn/versioning
 */
import {
  HEADER_MISMATCH,
  INVALID_PARAMS,
  MISSING_REQUIRED_CLIENT_CAPABILITY,
  RESOURCE_NOT_FOUND,
  UNSUPPORTED_PROTOCOL_VERSION,
} from './error-codes.ts'
import type { Revision, RevisionFacts } from './revisions.ts'

/**
 * The features and requirements of a revision for servers. An absent member means that the revision
 * lacks the feature.
 */
export interface ServerFacts {
  /**
   * Whether streams start with an event that has an id but no data. The server may then close a
   * stream early, and the client polls by resuming it.
   */
  readonly sendsEventId?: boolean
  /** The error code for a resource that does not exist. */
  readonly resourceNotFound: number
  /** The codes from -32099 to -32000 that exist. If absent, every code of this range may be used. */
  readonly reservedCodes?: readonly number[]
  /** The error code for a missing client capability, if the revision has one. */
  readonly capabilityErrorCode?: number
  /** Whether elicitations in URL mode have ids, and so a completion notification and an error that lists them. */
  readonly elicitationIds?: boolean
}

const early: ServerFacts = { resourceNotFound: RESOURCE_NOT_FOUND }

const facts: Readonly<Record<Revision, ServerFacts>> = {
  '2024-11-05': early,
  '2025-03-26': early,
  '2025-06-18': early,
  '2025-11-25': {
    sendsEventId: true,
    resourceNotFound: RESOURCE_NOT_FOUND,
    elicitationIds: true,
  },
  '2026-07-28': {
    resourceNotFound: INVALID_PARAMS,
    reservedCodes: [
      HEADER_MISMATCH,
      MISSING_REQUIRED_CLIENT_CAPABILITY,
      UNSUPPORTED_PROTOCOL_VERSION,
    ],
    capabilityErrorCode: MISSING_REQUIRED_CLIENT_CAPABILITY,
  },
}

/** The facts of a revision for servers. */
export function serverFacts({ version }: RevisionFacts): ServerFacts {
  return facts[version]
}
