/**
 * Adapts `_meta` and implementation info to peers of older revisions.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta
 */
import { without } from './copy.ts'
import {
  META_CLIENT_CAPABILITIES,
  META_CLIENT_INFO,
  META_LOG_LEVEL,
  META_PROTOCOL_VERSION,
  META_SERVER_INFO,
  META_SUBSCRIPTION_ID,
} from './meta.ts'
import { IMPLEMENTATION_DETAILS, ITEM_METADATA, supports } from './revision-features.ts'
import type { RevisionFacts } from './revisions.ts'
import type { Implementation, Meta } from './types.ts'

/** The keys with which messages describe themselves in revisions without sessions. */
const MODERN_KEYS = [
  META_CLIENT_CAPABILITIES,
  META_CLIENT_INFO,
  META_LOG_LEVEL,
  META_PROTOCOL_VERSION,
  META_SERVER_INFO,
  META_SUBSCRIPTION_ID,
]

/** Removes the keys with which messages describe themselves, if the revision has sessions. */
export function degradeMeta<T extends { _meta?: Meta }>(holder: T, revision: RevisionFacts): T {
  const meta = holder._meta
  if (!meta || revision.era === 'modern') return holder
  const degraded = without(meta, MODERN_KEYS)
  if (degraded === meta) return holder
  return Object.keys(degraded).length > 0
    ? { ...holder, _meta: degraded }
    : without(holder, ['_meta'])
}

/**
 * Adapts implementation info. 2025-06-18 introduced `title`; 2025-11-25 introduced the rest, except name
 * and version.
 */
export function degradeImplementation(
  info: Implementation,
  revision: RevisionFacts,
): Implementation {
  if (supports(revision, IMPLEMENTATION_DETAILS)) return info
  const degraded = without(info, ['icons', 'description', 'websiteUrl'])
  return supports(revision, ITEM_METADATA) ? degraded : without(degraded, ['title'])
}
