/**
 * The protocol revisions and how they work, as data. The features of each revision are in
 * `revision-features.ts`; codes and types that only servers need are in `server-facts.ts`.
 *
 * @see https://modelcontextprotocol.io/docs/2026-07-28/learn/versioning
 */

/**
 * A revision of the protocol, named by its date.
 *
 * @see https://modelcontextprotocol.io/docs/2026-07-28/learn/versioning
 */
export type Revision = '2024-11-05' | '2025-03-26' | '2025-06-18' | '2025-11-25' | '2026-07-28'

/** How one revision works. An absent member means that the revision lacks the feature. */
export interface RevisionFacts {
  readonly version: Revision
  /**
   * The position among the revisions, from 1. A revision has all features of `revision-features.ts`
   * that it or an earlier revision introduced.
   */
  readonly order: number
  /**
   * Whether the revision uses sessions and `initialize` (legacy), or describes the client in each request.
   */
  readonly era: 'legacy' | 'modern'
  /** Whether several messages may be sent as one array. */
  readonly batches?: boolean
  /** The kind of tasks that the revision has, if any. */
  readonly tasks?: 'core' | 'extension'
}

const v20241105: RevisionFacts = {
  version: '2024-11-05',
  order: 1,
  era: 'legacy',
}
const v20250326: RevisionFacts = {
  version: '2025-03-26',
  order: 2,
  era: 'legacy',
  batches: true,
}
const v20250618: RevisionFacts = {
  version: '2025-06-18',
  order: 3,
  era: 'legacy',
}
const v20251125: RevisionFacts = {
  version: '2025-11-25',
  order: 4,
  era: 'legacy',
  tasks: 'core',
}
const v20260728: RevisionFacts = {
  version: '2026-07-28',
  order: 5,
  era: 'modern',
  tasks: 'extension',
}

/**
 * All revisions, newest first, which is also the order of preference.
 *
 * @see https://modelcontextprotocol.io/docs/2026-07-28/learn/versioning
 */
export const revisions: readonly RevisionFacts[] = [
  v20260728,
  v20251125,
  v20250618,
  v20250326,
  v20241105,
]

/** The revision of HTTP requests if neither a session nor a header specifies it. */
export const ASSUMED_REVISION: RevisionFacts = v20250326
/** The newest revision with sessions. */
export const LATEST_LEGACY: RevisionFacts = v20251125

/** Whether any of these revisions has sessions. */
export function haveSessions(candidates: readonly RevisionFacts[]): boolean {
  return candidates.some(({ era }) => era === 'legacy')
}

/**
 * Returns the facts about a revision; `undefined` if the revision does not exist. Versions are
 * compared for equality.
 *
 * @see https://modelcontextprotocol.io/docs/2026-07-28/learn/versioning
 */
export function findRevision(version: unknown): RevisionFacts | undefined {
  return revisions.find((facts) => facts.version === version)
}
