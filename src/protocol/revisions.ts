/**
 * The differences between the protocol revisions, as data. Those that only servers need are in
 * `server-facts.ts`.
 *
 * @see https://modelcontextprotocol.io/docs/2026-07-28/learn/versioning
 */

/** A revision of the protocol, named by its date. */
export type Revision = '2024-11-05' | '2025-03-26' | '2025-06-18' | '2025-11-25' | '2026-07-28'

/** The features and requirements of one revision; those not mentioned are absent. */
export interface RevisionFacts {
  readonly version: Revision
  /** Whether it uses sessions and `initialize` (legacy), or is stateless with everything in each request. */
  readonly era: 'legacy' | 'modern'
  /** Whether several messages may be sent as one array. */
  readonly batches?: boolean
  /** Whether HTTP requests after `initialize` must carry the version in a header. */
  readonly versionHeader?: boolean
  /** `audio` content, tool annotations, `progress.message`, the `completions` capability. */
  readonly audio?: boolean
  /** `title`, `resource_link`, structured output, `_meta` on objects, completion context, forms. */
  readonly titles?: boolean
  /** Icons, descriptions of implementations, sampling with tools, rich form fields, URL mode elicitation. */
  readonly icons?: boolean
  /** The kind of tasks that the revision has. */
  readonly tasks: 'none' | 'core' | 'extension'
}

const v20241105: RevisionFacts = {
  version: '2024-11-05',
  era: 'legacy',
  tasks: 'none',
}
const v20250326: RevisionFacts = {
  version: '2025-03-26',
  era: 'legacy',
  batches: true,
  audio: true,
  tasks: 'none',
}
const v20250618: RevisionFacts = {
  version: '2025-06-18',
  era: 'legacy',
  versionHeader: true,
  audio: true,
  titles: true,
  tasks: 'none',
}
const v20251125: RevisionFacts = {
  version: '2025-11-25',
  era: 'legacy',
  versionHeader: true,
  audio: true,
  titles: true,
  icons: true,
  tasks: 'core',
}
const v20260728: RevisionFacts = {
  version: '2026-07-28',
  era: 'modern',
  versionHeader: true,
  audio: true,
  titles: true,
  icons: true,
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

/** The revision of HTTP requests if neither a session nor a header specifies it. */
export const ASSUMED_REVISION: RevisionFacts = v20250326
/** The newest revision with sessions. */
export const LATEST_LEGACY: RevisionFacts = v20251125

/** Whether any of these revisions has sessions. */
export function haveSessions(some: readonly RevisionFacts[]): boolean {
  return some.some(({ era }) => era === 'legacy')
}

/** The facts of a revision; undefined if it does not exist. Versions are compared for equality. */
export function findRevision(version: unknown): RevisionFacts | undefined {
  return revisions.find((facts) => facts.version === version)
}
